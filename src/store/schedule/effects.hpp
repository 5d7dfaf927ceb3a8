// What becomes of a job: when it is set, and when its run ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "core/ended_run.hpp"
#include "store/failure_count.hpp"

namespace w8y::store {

using UnixSeconds = std::int64_t;

struct Enqueue {};
struct RunAt {
  UnixSeconds time = 0;
};
struct RunIn {
  std::chrono::seconds time{0};
};
struct StopJob {};  ///< status STP
struct BadJob {};   ///< status BAD
struct UnsetJob {};

/// Of a job that is set.
using SetEffect = std::variant<Enqueue, RunAt, StopJob, BadJob>;
/// Of a run that ended, by the job's schedule.
using NextStep = std::variant<Enqueue, RunAt, RunIn, StopJob, BadJob, UnsetJob>;

struct ScheduleDecision {
  NextStep step;
  std::optional<std::string> schedule = {};  ///< from now on, where it changes
  /// The schedule has no DTSTART: it begins when the run ended.
  bool begins_then = false;
  std::string why_bad = {};  ///< BadJob: for people
};
/// `schedule`: none, if the job was unset. `backoff`: of this run, where the schedule is CONTINUE.
using DecideNextStep =
    std::function<ScheduleDecision(const std::optional<std::string>& schedule, UnixSeconds now,
                                   std::optional<std::chrono::seconds> backoff)>;

/// The schedule says, as it stands by then.
struct ActOnSchedule {
  std::optional<std::chrono::seconds> backoff = std::nullopt;
};
/// Back on the timeline, whatever the schedule; not if the job was set or unset meanwhile.
struct BackOff {
  std::chrono::seconds time{0};
};
struct Die {};
/// The schedule becomes STOP.
struct StopForGood {};
/// To the taking end of its queue; not if the job was set or unset meanwhile.
struct BackToQueue {};
using JobEnd = std::variant<ActOnSchedule, BackOff, Die, StopForGood, UnsetJob, BackToQueue>;

/// All that Redis is told about a run of a job that is over: one step.
struct JobSettlement : EndedRun {
  JobEnd what;
  FailureCount failures = FailureCount::keep;
};

}  // namespace w8y::store

// Effects on a job when it is set, and when its run ends.
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

/// Effect of setting a job.
using SetEffect = std::variant<Enqueue, RunAt, StopJob, BadJob>;
/// Effect of a run that has ended, by the schedule of its job.
using NextStep = std::variant<Enqueue, RunAt, RunIn, StopJob, BadJob, UnsetJob>;

struct ScheduleDecision {
  NextStep step;
  std::optional<std::string> schedule = {};  ///< new schedule; nullopt = unchanged
  /// Whether the schedule starts at the end of the run, because it has no DTSTART.
  bool begins_then = false;
  std::string why_bad = {};  ///< BadJob: the reason for operators
};
/// Decides the next step. `schedule`: nullopt if the job was unset; `backoff`: of this run, for the
/// schedule CONTINUE.
using DecideNextStep =
    std::function<ScheduleDecision(const std::optional<std::string>& schedule, UnixSeconds now,
                                   std::optional<std::chrono::seconds> backoff)>;

/// Acts by the schedule at the time of the settlement.
struct ActOnSchedule {
  std::optional<std::chrono::seconds> backoff = std::nullopt;
};
/// Returns the job to the timeline regardless of its schedule, unless the job was set or unset
/// meanwhile.
struct BackOff {
  std::chrono::seconds time{0};
};
struct Die {
  std::chrono::seconds instead{0};  ///< as BackOff, if the breaker prevents it
};
/// Changes the schedule to STOP.
struct StopForGood {};
/// Returns the job to the end of its queue from which jobs are claimed, unless it was set or unset
/// meanwhile.
struct BackToQueue {};
using JobEnd = std::variant<ActOnSchedule, BackOff, Die, StopForGood, UnsetJob, BackToQueue>;

/// Settlement of a run of a job, written to Redis in one step.
struct JobSettlement : EndedRun {
  JobEnd what;
  FailureCount failures = FailureCount::keep;
};

}  // namespace w8y::store

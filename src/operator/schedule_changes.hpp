// Changes and queries of schedules by operators. Each change is one step.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/connection.hpp"
#include "source/schedule/decision.hpp"
#include "store/schedule/dispatch.hpp"
#include "store/schedule/effects.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::verbs {

using source::decide;
using source::Decision;
using store::BadJob;
using store::DispatchCall;
using store::DispatchReply;
using store::ScheduleKeys;
using store::SetEffect;
using store::UnixSeconds;

using Job = std::string;  ///< bytes

struct SetJob {
  Job job;
  std::string schedule;  ///< from now on
  SetEffect effect;
  std::chrono::milliseconds jitter = {};  ///< of a recurrence rule; 0 = none
};

struct JobStatus {
  Job job;
  std::string event;     ///< "TML", "ENQ", …
  UnixSeconds time = 0;  ///< since when
};
/// Parses a status such as "TML:1381720578". nullopt: neither w8yd nor Redbike writes that.
std::optional<JobStatus> read_status(const Job& job, std::string_view text);

struct JobView {
  std::optional<std::string> status;  ///< as stored
  std::optional<std::string> schedule;
  std::optional<double> next_run;  ///< its score on the timeline
  bool working = false;
};

/// Result of running a job now.
enum class RunNow { entered, running, queued, halted, paused, unknown, bad };

/// Schedule in Redis. All functions throw redis::RedisError.
class ScheduleChanges {
 public:
  /// `by`: operator, as in QueryContext.
  ScheduleChanges(redis::SyncClient& client, ScheduleKeys keys, std::string by = {})
      : client_(client), keys_(std::move(keys)), by_(std::move(by)) {}

  /// Returns the time of Redis's clock.
  UnixSeconds now();
  /// Sets all jobs, or none if a key is of a wrong type. The codes of the jobs must be valid.
  void set(const std::vector<SetJob>& changes);
  /// Returns whether a stored schedule can be parsed.
  using IsValid = std::function<bool(const std::string& schedule)>;
  /// As set(), but a BadJob never replaces a valid schedule, even if other clients write meanwhile.
  /// Returns the indexes in `changes` of the jobs that were left unchanged, ascending.
  std::vector<std::size_t> set_keeping_valid(const std::vector<SetJob>& changes,
                                             const IsValid& is_valid);
  /// Removes a job. False: nothing was stored for it.
  bool unset(const Job& job);
  /// Enqueues the job, regardless of its schedule.
  RunNow run_now(const Job& job);
  JobView view(const Job& job);
  /// Fields and values of a hash, in Redis's order.
  using Fields = std::vector<std::pair<Job, std::string>>;
  Fields statuses() { return fields(keys_.statuses); }
  Fields schedules() { return fields(keys_.schedules); }
  /// Values are numbers of consecutive failures. "0": the last run succeeded and ended the
  /// schedule.
  Fields failures() { return fields(keys_.failures); }
  /// Returns the jobs of the timeline and their scores.
  std::vector<std::pair<Job, double>> timeline();

  /// Halts the schedule. `who`: the operator, which `why` shows.
  void halt(const std::string& who);
  /// Ends the halt. False: the schedule was not halted.
  bool resume();

  DispatchReply dispatch(const DispatchCall& call);

  [[nodiscard]] const ScheduleKeys& keys() const { return keys_; }

 private:
  /// Change to be sent.
  struct Sent {
    std::size_t place = 0;  ///< index in `changes`
    std::string only_if;    ///< of a BadJob: the required stored schedule, as in schedule_set.lua
  };
  redis::ReplyCopy send(const std::vector<SetJob>& changes, const std::vector<Sent>& sent);
  Fields fields(const std::string& hash);
  void record(const char* change, const std::vector<DisplayItem>& jobs);

  redis::SyncClient& client_;
  ScheduleKeys keys_;
  std::string by_;
};

/// In a cluster, refuses a prefix that has no hash tag with 400.
ScheduleChanges schedule_changes(Connection& at, const std::string& prefix, std::string by);

}  // namespace w8y::verbs

// What an operator does with schedules, and what he sees of them: each change in one step.
#pragma once

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
};

struct JobStatus {
  Job job;
  std::string event;     ///< "TML", "ENQ", …
  UnixSeconds time = 0;  ///< since when
};
/// "TML:1381720578". nullopt: nobody of us writes that.
std::optional<JobStatus> read_status(const Job& job, std::string_view text);

struct JobView {
  std::optional<std::string> status;  ///< as it is written
  std::optional<std::string> schedule;
  std::optional<double> next_run;  ///< its score on the timeline
  bool working = false;
};

/// What came of a job that was to run now.
enum class RunNow { entered, running, queued, halted, paused, unknown, bad };

/// All throw redis::RedisError.
class ScheduleChanges {
 public:
  ScheduleChanges(redis::SyncClient& client, ScheduleKeys keys)
      : client_(client), keys_(std::move(keys)) {}

  /// Redis's clock.
  UnixSeconds now();
  /// All of them, or none where a key is of a wrong type. Codes must be without trouble.
  void set(const std::vector<SetJob>& changes);
  /// Says whether a stored schedule can be read.
  using IsValid = std::function<bool(const std::string& schedule)>;
  /// Like set(), but a BadJob never replaces a valid schedule, whatever other clients write
  /// meanwhile. Returns the places in `changes` of the jobs that were left unchanged, ascending.
  std::vector<std::size_t> set_keeping_valid(const std::vector<SetJob>& changes,
                                             const IsValid& is_valid);
  /// False: there was nothing of it.
  bool unset(const Job& job);
  /// Enters it in its queue, whatever its schedule.
  RunNow run_now(const Job& job);
  JobView view(const Job& job);
  /// Field and value of each, in Redis's order: of statuses, of schedules.
  using Fields = std::vector<std::pair<Job, std::string>>;
  Fields statuses() { return fields(keys_.statuses); }
  Fields schedules() { return fields(keys_.schedules); }
  /// Jobs and their times.
  std::vector<std::pair<Job, double>> timeline();

  /// `who`: for those who ask why nothing runs.
  void halt(const std::string& who);
  /// False: nothing was halted.
  bool resume();

  DispatchReply dispatch(const DispatchCall& call);

  [[nodiscard]] const ScheduleKeys& keys() const { return keys_; }

 private:
  /// A change to be sent.
  struct Sent {
    std::size_t place = 0;  ///< in `changes`
    std::string only_if;    ///< of a BadJob: what the schedule must be, as in schedule_set.lua
  };
  redis::ReplyCopy send(const std::vector<SetJob>& changes, const std::vector<Sent>& sent);
  Fields fields(const std::string& hash);

  redis::SyncClient& client_;
  ScheduleKeys keys_;
};

/// In a cluster, refuses a prefix that has no hash tag with 400.
ScheduleChanges schedule_changes(Connection& at, const std::string& prefix);

}  // namespace w8y::verbs

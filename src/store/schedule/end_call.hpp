// Keys, arguments and reply of schedule_settle.lua.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "redis/command.hpp"
#include "redis/reply.hpp"
#include "store/schedule/effects.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::store {

struct EndCall {
  std::string job;
  std::string tag;
  RunId run;
  std::string effect = "back";
  std::int64_t number = 0;
  /// Schedule on which the decision is based, in the form that the script expects: "n" = the job
  /// has no schedule; "s" followed by the schedule. Empty = any schedule.
  std::string decided_by = {};
  std::optional<UnixSeconds> after = std::nullopt;  ///< "at": the next time after this time
  bool begins_then = false;                         ///< whether the schedule starts at `after`
  std::string schedule = {};                        ///< new schedule; empty = unchanged
  FailureCount failures = FailureCount::keep;
  bool again = false;  ///< whether it may have been executed before
  HistoryLimits history = HistoryLimits::none();
  std::string event = {};  ///< JSON; empty = none
  /// Whether the next time is counted from the time for which the job was dispatched.
  bool catches_up = false;
  std::string more = {};            ///< further members of the run record, see history_members()
  std::string kept = {};            ///< kept_record() if the job dies; else empty
  std::string breaker_limits = {};  ///< breaker_limits(); empty = no breaker
  std::string breaker = {};  ///< breaker_entry(), or "?" for a death by a run that has no entry
  std::chrono::seconds instead{0};  ///< "die": delay if the breaker prevents that

  // Members for the decision, which Redis does not receive.
  DecideNextStep decide = nullptr;  ///< nullptr: the effect does not depend on the schedule
  std::optional<std::chrono::seconds> backoff = std::nullopt;
  std::string why_bad = {};  ///< error in the schedule
  /// Called when Redis has confirmed that the job has an invalid schedule. `why`: the error.
  std::function<void(const DisplayItem& job, const std::string& why)> on_bad = nullptr;
};

/// Sets the effect by the schedule of the job. `now`: time of the Redis clock, or earlier.
void decide(EndCall& call, const std::optional<std::string>& schedule, UnixSeconds now);

class EndWords {
 public:
  EndWords(const ScheduleKeys& keys, const EndCall& call);
  /// `calls`: exactly one.
  EndWords(const ScheduleKeys& keys, const std::vector<const EndCall*>& calls)
      : EndWords(keys, *calls.front()) {}
  EndWords(const EndWords&) = delete;
  EndWords& operator=(const EndWords&) = delete;
  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  std::string working_;
  std::vector<std::string> numbers_;
  redis::Command keys_;
  redis::Command arguments_;
};

struct EndResult {
  enum class State { done, not_ours, changed };
  State state = State::done;
  std::string refused;                  ///< write error of a key other than the job's key
  UnixSeconds now = 0;                  ///< by the Redis clock
  UnixSeconds after = 0;                ///< `changed`: time after which the next time is searched
  std::optional<std::string> schedule;  ///< `changed`: the current schedule
};
EndResult read_end(const redis::Reply& reply);

}  // namespace w8y::store

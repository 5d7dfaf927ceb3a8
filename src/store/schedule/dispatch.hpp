// Dispatch: moves due jobs from the timeline to their queues.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule_settings.hpp"
#include "redis/command.hpp"
#include "redis/reply_copy.hpp"
#include "store/schedule/effects.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::store {

/// Job whose time was missed, with CatchUp::none.
struct MissedJob {
  std::string job;
  std::string schedule;
  std::string time;  ///< on the timeline, as in Redis
};

/// Decision about a missed job. It counts if the schedule and the time are still the same.
struct MissedDecision {
  MissedJob missed;
  std::string effect;  ///< "run", "stop", or the next time as Unix time
};

struct DispatchCall {
  std::optional<UnixSeconds> up_to;  ///< jobs up to this time are due; nullopt = now, by the Redis
                                     ///< clock
  bool even_halted = false;
  CatchUp catch_up = CatchUp::one;
  std::vector<MissedDecision> decisions = {};
  /// Queues of other lists, with their `catch_up`; nullptr = none.
  const SharedKeyPrefix* shared = nullptr;
};

struct DispatchReply {
  bool halted = false;  ///< no job was dispatched
  std::size_t taken_off = 0;
  std::size_t enqueued = 0;  ///< the others were queued or running already
  bool more = false;         ///< further jobs are due: call again
  std::optional<std::chrono::milliseconds> next_due;
  std::chrono::milliseconds now{0};  ///< by the Redis clock
  std::size_t refused = 0;
  std::string first_refused;  ///< one of these jobs, truncated to 4 KiB
  std::string why;
  std::vector<MissedJob> missed;  ///< still on the timeline; the next call needs decisions
  std::vector<std::chrono::milliseconds> late;  ///< lateness of each job that was taken off the
                                                ///< timeline
};

/// Keys and arguments of schedule_dispatch.lua.
class DispatchWords {
 public:
  DispatchWords(const ScheduleKeys& keys, const DispatchCall& call);
  DispatchWords(const DispatchWords&) = delete;
  DispatchWords& operator=(const DispatchWords&) = delete;
  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  std::string up_to_;
  std::string catch_up_;
  redis::Command keys_;
  redis::Command arguments_;
};
DispatchReply read_dispatch(const redis::ReplyCopy& reply);

}  // namespace w8y::store

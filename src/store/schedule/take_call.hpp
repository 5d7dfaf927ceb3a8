// Keys, arguments and reply of schedule_claim.lua.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "redis/command.hpp"
#include "redis/reply.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::store {

/// Run and tag for one wanted job.
struct Ticket {
  RunId run;
  std::string tag;  ///< 30 hex digits
};

struct TakeCall {
  const ScheduleKeys& keys;
  std::string holder;  ///< "run:<host>:<pid>:"
  Duration life{0};
  unsigned fleet_limit = 0;
  std::size_t place = 0;           ///< queue at which the claim starts
  std::uint64_t newest_fence = 0;  ///< the largest fencing token that this host has seen of the
                                   ///< list
  const std::vector<std::string>& queues;
  const std::vector<Ticket>& tickets;
  bool has_breaker = false;
};

class TakeWords {
 public:
  explicit TakeWords(const TakeCall& call);
  explicit TakeWords(TakeCall&&) = delete;  // keys and arguments are views of the call
  TakeWords(const TakeWords&) = delete;
  TakeWords& operator=(const TakeWords&) = delete;
  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  std::vector<std::string> numbers_;
  redis::Command keys_;
  redis::Command arguments_;
};

struct TakenJob {
  std::string job;
  std::size_t place = 0;  ///< index of its queue
  std::uint64_t fence = 0;
  unsigned failures = 0;
  /// Schedule at the time of the claim; nullopt if there was none, or it is too long for the reply.
  std::optional<std::string> schedule;
};

enum class TakeStatus { ok, more, empty, halted, paused, full, breaker };

struct TakeResult {
  TakeStatus status = TakeStatus::ok;
  std::size_t place = 0;
  std::chrono::milliseconds now{0};  ///< by the Redis clock
  std::optional<std::chrono::milliseconds> next_free;
  std::string detail;
  std::string refused;
  std::vector<DisplayItem> too_long;
  std::vector<TakenJob> taken;  ///< taken[i] has the i-th ticket
};
TakeResult read_take(const redis::Reply& reply);

}  // namespace w8y::store

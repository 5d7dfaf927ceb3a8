// The words of schedule_take.lua.
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

/// Who takes, for each job that is wanted.
struct Ticket {
  RunId run;
  std::string tag;  ///< 30 hex digits
};

struct TakeCall {
  const ScheduleKeys& keys;
  std::string holder;  ///< "run:<host>:<pid>:"
  Duration life{0};
  unsigned fleet_limit = 0;
  std::size_t place = 0;           ///< of the next visit, among the queues
  std::uint64_t newest_fence = 0;  ///< the largest that we have seen of the list
  const std::vector<std::string>& queues;
  const std::vector<Ticket>& tickets;
};

class TakeWords {
 public:
  explicit TakeWords(const TakeCall& call);
  explicit TakeWords(TakeCall&&) = delete;  // the words are views of it
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
  std::size_t place = 0;  ///< of its queue
  std::uint64_t fence = 0;
  unsigned failures = 0;
  /// As it stood then; none: there was none, or it is too long to be told.
  std::optional<std::string> schedule;
};

enum class TakeStatus { ok, more, empty, halted, paused, full };

struct TakeResult {
  TakeStatus status = TakeStatus::ok;
  std::size_t place = 0;
  std::chrono::milliseconds now{0};  ///< Redis's
  std::optional<std::chrono::milliseconds> next_free;
  std::string detail;
  std::string refused;
  std::vector<DisplayItem> too_long;
  std::vector<TakenJob> taken;  ///< taken[i] has the i-th ticket
};
TakeResult read_take(const redis::Reply& reply);

}  // namespace w8y::store

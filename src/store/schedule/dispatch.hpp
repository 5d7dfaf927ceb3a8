// Jobs that are due, from the timeline into their queues.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "redis/command.hpp"
#include "redis/reply_copy.hpp"
#include "store/schedule/effects.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::store {

struct DispatchCall {
  std::optional<UnixSeconds> up_to;  ///< what is due; none: by Redis's clock
  bool even_halted = false;
};

struct DispatchReply {
  bool halted = false;  ///< nothing was done
  std::size_t taken_off = 0;
  std::size_t enqueued = 0;  ///< the others were queued already, or are worked on
  bool more = false;         ///< others are due: call again
  std::optional<std::chrono::milliseconds> next_due;
  std::chrono::milliseconds now{0};  ///< Redis's
  std::size_t refused = 0;
  std::string first_refused;  ///< a job, at most 4 KiB of it
  std::string why;
  std::vector<std::chrono::milliseconds> late;  ///< of each job that was taken off
};

/// The words of schedule_dispatch.lua.
class DispatchWords {
 public:
  DispatchWords(const ScheduleKeys& keys, const DispatchCall& call);
  DispatchWords(const DispatchWords&) = delete;
  DispatchWords& operator=(const DispatchWords&) = delete;
  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  std::string up_to_;
  redis::Command keys_;
  redis::Command arguments_;
};
DispatchReply read_dispatch(const redis::ReplyCopy& reply);

}  // namespace w8y::store

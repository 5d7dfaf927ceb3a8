// The timeline of schedules as its store has it: the port between deciding when to look at it
// (Dispatcher) and doing that in Redis.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <w8y/rule.hpp>

#include "store/schedule/dispatch.hpp"

namespace w8y::store {

/// Why a call has done nothing.
struct TimelineTrouble {
  std::string why;
  bool about_keys = false;  ///< of this list: a key of a wrong type, an ACL; else of the server
};

/// What came of looking for jobs whose holder is gone.
struct RecoverReply {
  std::size_t put_back = 0;
  bool more = false;  ///< not all were looked at: call again
  /// Until one that was looked at may be over.
  std::optional<std::chrono::milliseconds> next_over;
};

class TimelineHandler {
 public:
  virtual ~TimelineHandler() = default;
  virtual void on_dispatched(const DispatchReply& reply) = 0;
  virtual void on_recovered(const RecoverReply& reply) = 0;
  /// Instead of either.
  virtual void on_unavailable(const TimelineTrouble& trouble) = 0;
  /// Somebody has put an earlier job on the timeline, or has ended HALT.
  virtual void on_wake() = 0;
  /// Redis is back, or its channels: nobody has told us what has happened meanwhile.
  virtual void on_back() = 0;
};

/// Never calls its handler from inside a call of its own; callbacks stop when it is destroyed.
class Timeline {
 public:
  virtual ~Timeline() = default;
  // One call at a time, of either kind, answered by one on_…().
  virtual void dispatch() = 0;
  virtual void recover() = 0;
  /// Whether what others put on the timeline is heard of (keyspace events).
  [[nodiscard]] virtual bool hears() const = 0;
};

}  // namespace w8y::store

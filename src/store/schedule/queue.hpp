// Schedules as their store has them: the port between deciding when to take jobs and what their
// ends mean (a source) and doing that in Redis.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <w8y/source.hpp>

#include "store/failure_count.hpp"
#include "store/schedule/dispatch.hpp"
#include "store/schedule/effects.hpp"

namespace w8y::store {

/// What a take has come to.
struct TakeReply {
  std::vector<Claim> claims;
  ClaimEnd end = ClaimEnd::more;  ///< empty, paused, halted, fleet_full, unavailable, refused
  /// When there may be a place in the fleet, or the pause ends.
  std::optional<Duration> next_free;
  std::string detail;             ///< who halted, why it is paused, unavailable or refused
  std::vector<ShownItem> parked;  ///< longer than longest_item: BAD
};

struct DispatchAnswer {
  std::optional<DispatchReply> reply;  ///< none: it could not be done
  ClaimEnd trouble = ClaimEnd::more;   ///< unavailable or refused
  std::string why;
};

/// What somebody says has happened. Anybody can say that, and as often as he likes.
enum class ScheduleNews {
  queued,    ///< one of our queues has jobs
  timeline,  ///< a job is due earlier than any before
  place,     ///< the fleet has room for a run
  orders,    ///< halted, paused, or the end of that
};

class ScheduleQueueHandler : public ClaimHandler {
 public:
  virtual void on_taken(TakeReply&& reply) = 0;
  virtual void on_dispatched(DispatchAnswer&& answer) = 0;
  /// `put_back`: jobs whose holder was gone. `next`: when another lease may be over; none: nobody
  /// holds a job, or it could not be asked.
  virtual void on_recovered(std::size_t put_back, std::optional<Duration> next) = 0;
  virtual void on_news(ScheduleNews news) = 0;
  /// Redis is back, or its channels: nobody has told us what has happened meanwhile.
  virtual void on_back() = 0;
};

/// Never calls its handler from inside a call of its own; callbacks stop when it is destroyed.
class ScheduleQueue {
 public:
  virtual ~ScheduleQueue() = default;
  /// Before anything else; and again with a changed rule.
  virtual void use(RulePtr rule) = 0;
  /// Up to `wanted` jobs, at most one take at a time; answered by one on_taken().
  virtual void take(std::size_t wanted) = 0;
  /// What is due goes to its queues; answered by one on_dispatched().
  virtual void dispatch() = 0;
  /// Jobs whose holder is gone go back to their queues; answered by one on_recovered(). One at a
  /// time.
  virtual void recover() = 0;
  /// Whether on_news() is wanted.
  virtual void listen(bool on) = 0;
  // As a Source has them.
  virtual void settle(JobSettlement&& settlement) = 0;
  virtual void hand_back(const Claim& claim) = 0;
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y::store

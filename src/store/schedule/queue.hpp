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

#include "core/source.hpp"
#include "store/failure_count.hpp"
#include "store/schedule/dispatch.hpp"
#include "store/schedule/effects.hpp"
#include "store/work_queue.hpp"

namespace w8y::store {

struct DispatchAnswer {
  std::optional<DispatchReply> reply;  ///< none: it could not be done
  ClaimEnd trouble = ClaimEnd::more;   ///< unavailable or refused
  std::string why;
};

/// What somebody says has happened. Anybody can say that, and as often as he likes.
enum class ScheduleNews {
  queued,    ///< one of our queues has jobs
  timeline,  ///< a job is due earlier than any before
  changed,   ///< somebody put a job on the timeline: it may be due later than others
  place,     ///< the fleet has room for a run
  orders,    ///< halted, paused, or the end of that
};

class ScheduleQueueHandler : public WorkQueueHandler {
 public:
  virtual void on_dispatched(DispatchAnswer&& answer) = 0;
  /// `put_back`: jobs whose holder was gone. `next`: when another lease may be over; none: nobody
  /// holds a job, or it could not be asked.
  virtual void on_recovered(std::size_t put_back, std::optional<Duration> next) = 0;
  virtual void on_news(ScheduleNews news) = 0;
};

class ScheduleQueue : public WorkQueue {
 public:
  /// Before anything else; and again with a changed rule.
  virtual void use(ListConfigPtr rule) = 0;
  /// What is due goes to its queues; answered by one on_dispatched().
  virtual void dispatch() = 0;
  /// Jobs whose holder is gone go back to their queues; answered by one on_recovered(). One at a
  /// time.
  virtual void recover() = 0;
  /// Instead of listen(): news are of the timeline, and of orders. May be said again and again:
  /// that Redis tells of changed keys is noticed then.
  virtual void listen_to_timeline() = 0;
  virtual void settle(JobSettlement&& settlement) = 0;
};

}  // namespace w8y::store

// Schedules in their store, the port between a source, which decides what a settlement does, and
// Redis.
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
  std::optional<DispatchReply> reply;  ///< nullopt = the dispatch failed
  ClaimEnd trouble = ClaimEnd::more;   ///< unavailable or refused
  std::string why;
};

/// Content of a notification. Any client can send these at any rate.
enum class ScheduleNews {
  queued,    ///< a queue of this list has jobs
  timeline,  ///< a job is due earlier than all others
  changed,   ///< a client has put a job on the timeline; it may be due later than others
  place,     ///< a fleet slot is free
  orders,    ///< halted or paused, or the end of it
};

class ScheduleQueueHandler : public virtual WorkQueueHandler {
 public:
  virtual void on_dispatched(DispatchAnswer&& answer) = 0;
  /// `put_back`: number of recovered jobs; `next`: time until another lease may end; nullopt if no
  /// host holds a job, or Redis is unavailable.
  virtual void on_recovered(std::size_t put_back, std::optional<Duration> next) = 0;
  virtual void on_news(ScheduleNews news) = 0;
};

class ScheduleQueue : public WorkQueue {
 public:
  /// Claims up to `wanted` jobs. At most one claim at a time; one on_claimed() follows.
  virtual void claim(std::size_t wanted) = 0;
  /// Requests on_news() when a client adds a job. Must be called after a claim that found the
  /// queues empty. Returns the cost in commands.
  [[nodiscard]] virtual double track() = 0;
  /// Dispatches due jobs. One on_dispatched() follows.
  virtual void dispatch() = 0;
  /// Recovers jobs whose holder no longer exists. At most one call at a time; one on_recovered()
  /// follows.
  virtual void recover() = 0;
  /// Requests notifications of the timeline and of commands, instead of listen().
  /// Must be called after each dispatch. Returns the cost in commands.
  [[nodiscard]] virtual double listen_to_timeline() = 0;
  virtual void settle(JobSettlement&& settlement) = 0;
};

}  // namespace w8y::store

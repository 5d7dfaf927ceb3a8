// Dispatches without w8yd: moves due jobs from the timeline to their queues.
#pragma once

#include <optional>
#include <string>

#include "core/timers.hpp"
#include "operator/channel_watch.hpp"
#include "operator/schedule_changes.hpp"

namespace w8y::verbs {

/// Dispatcher. It runs when the next job is due, after a wake-up, and every 250 ms.
class ScheduleDispatcher final : private detail::SubscriberOwner {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Called when jobs were moved, or could not be moved.
    virtual void on_dispatched(const DispatchReply& reply) = 0;
    /// Called when Redis refuses the dispatch or is unavailable, and again if the reason changes.
    virtual void on_error(const std::string& why) = 0;
    virtual void on_recovered() = 0;
  };

  ScheduleDispatcher(Connection& at, const ScheduleKeys& keys, Handler& handler);

  /// Runs the loop until HALT, or until the loop is stopped. `first`: the time of the first
  /// dispatch.
  void run(std::optional<UnixSeconds> first);

 private:
  void dispatch(std::optional<UnixSeconds> up_to);
  void dispatch_in(std::chrono::milliseconds wait, std::optional<UnixSeconds> up_to);
  void on_wake();
  void on_reply(const redis::Answer& answer, std::optional<UnixSeconds> up_to);

  loop::Loop& loop_;
  redis::Client& client_;
  const ScheduleKeys& keys_;
  Handler& handler_;
  Timer timer_;
  bool dispatching_ = false;
  bool again_ = false;  ///< a wake-up arrived during the dispatch
  std::string error_;   ///< empty: none
  redis::Subscription wake_;
};

}  // namespace w8y::verbs

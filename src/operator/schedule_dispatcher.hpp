// Dispatch without w8yd: moves due jobs from the timeline to their queues.
#pragma once

#include <optional>
#include <string>

#include "core/timers.hpp"
#include "operator/channel_watch.hpp"
#include "operator/schedule_changes.hpp"

namespace w8y::verbs {

/// Dispatches when the next job is due, after a wake-up, and every 250 ms.
class ScheduleDispatcher final : private detail::SubscriberOwner {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Jobs were moved, or could not be.
    virtual void on_dispatched(const DispatchReply& reply) = 0;
    /// Redis refuses the dispatch or is unavailable. Called again for another reason.
    virtual void on_error(const std::string& why) = 0;
    virtual void on_recovered() = 0;
  };

  ScheduleDispatcher(Connection& at, const ScheduleKeys& keys, Handler& handler);

  /// Runs the loop until HALT, or until somebody stops it. `first`: the time of the first dispatch.
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
  bool again_ = false;  ///< a wake-up came during the dispatch
  std::string error_;   ///< empty: none
  redis::Subscription wake_;
};

}  // namespace w8y::verbs

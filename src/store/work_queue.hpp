// Interface to the items of a list in their store, for the sources of every kind of work.
#pragma once

#include <cstddef>

#include "core/source.hpp"

namespace w8y::store {

/// Handler of replies and notifications. The handler of each kind adds callbacks for notifications
/// of items to claim or of free slots. Any client can send these notifications at any rate.
class WorkQueueHandler : public ClaimHandler {
 public:
  virtual void on_claimed(ClaimReply&& reply) = 0;
  /// Called when Redis or its channels are available again: notifications may have been missed.
  virtual void on_back() = 0;
};

/// Never calls its handler from inside one of its own calls. Callbacks stop when it is destroyed.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  /// Sets the list config, before all other calls and after each reload.
  virtual void use(ListConfigPtr rule) = 0;
  /// Sets whether notifications are requested.
  virtual void listen(bool on) = 0;
  /// Returns whether this host is notified of every addition by any client. An empty queue is then
  /// polled less often: a poll only finds additions whose notification was lost, see IdlePolls.
  [[nodiscard]] virtual bool hears() const = 0;
  /// Returns whether a notification can be missing. When a hash slot of a cluster moves, this
  /// host may notice it only by its next command for the queue.
  [[nodiscard]] virtual bool may_miss() const { return false; }
  // As in Source.
  virtual void hand_back(const Claim& claim) = 0;
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y::store

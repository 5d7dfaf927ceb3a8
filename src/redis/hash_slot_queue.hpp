// The calls of one hash slot of a cluster, in order.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "redis/cluster_call.hpp"

namespace w8y::redis {

class ClusterNode;

/// Whether and when a call is sent again after a reply.
enum class Resend { never, immediately, delayed };
/// Decides whether a call is sent again: after MOVED and ASK a limited number of times, after
/// TRYAGAIN until the timeout of the call. Records the new target in the call. `from` is the node
/// that replied.
Resend send_again(ClusterCall& call, const HostPort& from, const Answer& answer, Instant now);

/// Calls in flight are at one node. Calls to be sent again wait until no call is in flight, and
/// later calls wait behind them.
class HashSlotQueue {
 public:
  using Call = std::shared_ptr<ClusterCall>;

  /// `go_on` is called when next() may return a call again, or when the queue is idle() and may be
  /// destroyed.
  HashSlotQueue(const Clock& clock, TimerQueue& timers, std::function<void()> go_on);

  void add(Call call) { waiting_.push_back(std::move(call)); }
  /// The first call that may be sent; nullptr if none may.
  [[nodiscard]] const ClusterCall* next() const;
  /// Whether the next call may go to `node`. False if calls are in flight at another node.
  [[nodiscard]] bool may_go_to(const ClusterNode& node) const {
    return in_flight_ == 0 || node_ == &node;
  }
  /// Marks the next call as in flight.
  Call begin(const ClusterNode& node);
  /// Removes the next call, which cannot be sent.
  Call drop();
  /// Called when all parts of a call in flight have their replies.
  void on_reply(Call call, Resend again);
  [[nodiscard]] bool idle() const { return in_flight_ == 0 && back_.empty() && waiting_.empty(); }

 private:
  void resend();
  void send_next();

  const Clock& clock_;
  const std::function<void()> send_next_;
  std::deque<Call> waiting_;
  std::deque<Call> back_;  ///< to be sent again, in order
  const ClusterNode* node_ = nullptr;
  std::size_t in_flight_ = 0;
  bool slowly_ = false;  ///< the calls in back_ are sent again after a pause
  Timer pause_;
};

}  // namespace w8y::redis

// The calls of one slot of a cluster, in their order.
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

/// Whether a call is sent again after this answer.
enum class Resend { never, immediately, delayed };
/// After MOVED and ASK a few times, after TRYAGAIN while the call has patience. Notes in the call
/// where it has been sent to. `from`: who has answered.
Resend send_again(ClusterCall& call, const HostPort& from, const Answer& answer, Instant now);

/// Those in flight are at one node. Those that are to be sent again wait until all of them have
/// come back, and what was called later waits behind them.
class HashSlotQueue {
 public:
  using Call = std::shared_ptr<ClusterCall>;

  /// `go_on`: there may be a next() again, or the lane is idle() and may be destroyed.
  HashSlotQueue(const Clock& clock, TimerQueue& timers, std::function<void()> go_on);

  void add(Call call) { waiting_.push_back(std::move(call)); }
  /// The first that may be sent; nullptr: none may.
  [[nodiscard]] const ClusterCall* next() const;
  /// False: others are in flight at another node.
  [[nodiscard]] bool may_go_to(const ClusterNode& node) const {
    return in_flight_ == 0 || node_ == &node;
  }
  /// It is in flight from now on.
  Call begin(const ClusterNode& node);
  /// Takes it out: it can't be sent.
  Call drop();
  /// All parts of a call in flight have been answered.
  void answered(Call call, Resend again);
  [[nodiscard]] bool idle() const { return in_flight_ == 0 && back_.empty() && waiting_.empty(); }

 private:
  void resend();
  void go_on();

  const Clock& clock_;
  const std::function<void()> go_on_;
  std::deque<Call> waiting_;
  std::deque<Call> back_;  ///< to be sent again, in their order
  const ClusterNode* node_ = nullptr;
  std::size_t in_flight_ = 0;
  bool slowly_ = false;  ///< what is back is not sent again at once
  Timer pause_;
};

}  // namespace w8y::redis

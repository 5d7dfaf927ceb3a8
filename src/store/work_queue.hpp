// A queue of work as its store has it, whatever the kind: what a source of jobs asks of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/source.hpp"

namespace w8y::store {

/// What a take has come to.
struct TakeReply {
  /// An item that was taken out of circulation on the way.
  struct Parked {
    DisplayItem item;
    std::string why;
  };

  std::vector<Claim> claims;
  ClaimEnd end = ClaimEnd::more;  ///< empty, paused, halted, fleet_full, unavailable, refused
  /// When there may be a place in the fleet, or the pause ends.
  std::optional<Duration> next_free;
  std::string detail;  ///< who halted, why it is paused, unavailable or refused
  std::vector<Parked> parked;
};

/// A kind's own handler has a way besides to tell of news: that there is something to take, or room
/// for it. Anybody can say that, and as often as he likes.
class WorkQueueHandler : public ClaimHandler {
 public:
  virtual void on_taken(TakeReply&& reply) = 0;
  /// Redis is back, or its channels: nobody has told us what has happened meanwhile.
  virtual void on_back() = 0;
};

/// Never calls its handler from inside a call of its own; callbacks stop when it is destroyed.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  /// Up to `wanted` jobs, at most one take at a time; answered by one on_taken().
  virtual void take(std::size_t wanted) = 0;
  /// Whether news are wanted.
  virtual void listen(bool on) = 0;
  /// It would be told of whatever is added, by whomever: an empty queue can be asked rarely.
  [[nodiscard]] virtual bool hears() const = 0;
  // As a Source has them.
  virtual void hand_back(const Claim& claim) = 0;
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y::store

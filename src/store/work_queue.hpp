// Queue of jobs in its store, the port for sources of every kind of job.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/source.hpp"

namespace w8y::store {

/// Result of a claim.
struct TakeReply : ClaimReply {
  /// Item that the claim has quarantined or stalled.
  struct Parked {
    DisplayItem item;
    std::string why;
  };

  /// Estimated time until an item or a fleet slot may be free, or until the pause ends; nullopt if
  /// unknown.
  std::optional<Duration> next_free;
  std::vector<Parked> parked;
  std::size_t calls = 1;  ///< number of calls that the claim made
};

/// Handler of replies and notifications. The handler of each kind adds callbacks for notifications:
/// that there are jobs to claim, or free slots. Any client can send these at any rate.
class WorkQueueHandler : public ClaimHandler {
 public:
  virtual void on_taken(TakeReply&& reply) = 0;
  /// Called when Redis or its channels are available again: notifications may have been missed.
  virtual void on_back() = 0;
};

/// Never calls its handler from inside one of its own calls. Callbacks stop when it is destroyed.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  /// Claims up to `wanted` jobs. At most one claim at a time; one on_taken() follows.
  virtual void take(std::size_t wanted) = 0;
  /// Sets whether notifications are requested.
  virtual void listen(bool on) = 0;
  /// Returns whether every addition by any client is notified, so that an empty queue needs few
  /// polls.
  [[nodiscard]] virtual bool hears() const = 0;
  // As in Source.
  virtual void hand_back(const Claim& claim) = 0;
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y::store

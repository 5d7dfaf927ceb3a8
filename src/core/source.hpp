// Interface to the items of a list, for every kind of work. A Source decides when a claim is
// worthwhile and how runs are settled; a Poller does neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ended_run.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"

namespace w8y {

/// Why a claim returned fewer items than requested.
enum class ClaimEnd : std::uint8_t {
  more,          ///< it did not; claim again when there is a free slot
  nothing_free,  ///< every item is running, delayed or quarantined
  empty,         ///< there are no items; only an addition can change that
  paused,        ///< an operator paused the list on all hosts
  halted,        ///< a client stopped the list on all hosts (`HALT` of a schedule)
  fleet_full,    ///< `fleet_concurrency` is reached
  unavailable,   ///< Redis or every gearmand is unavailable; the Source calls on_may_claim()
                 ///< afterwards
  refused,       ///< Redis refuses claims from this list: a key of a wrong type, an ACL
  breaker,       ///< the breaker is open; a claim that is a probe returns one item
};

/// State of the wait queue, in which hosts wait for a free item after a claim that found none.
enum class WaitQueue : std::uint8_t {
  none,     ///< this host does not wait, or waits alone: any host may claim a free item
  others,   ///< other hosts wait as well: each claims its share, and more only as the next waiter
  crowded,  ///< more waiters than items or fleet slots: a free item belongs to the next waiter, not
            ///< to the host that freed it
};

/// Result of a claim.
struct ClaimReply {
  /// Item that the claim has quarantined or stalled.
  struct Parked {
    DisplayItem item;
    std::string why;
  };

  std::vector<Claim> claims;
  ClaimEnd end = ClaimEnd::more;
  std::string detail;  ///< why it is paused, halted, unavailable or refused, or why its breaker is
                       ///< open; for people
  std::vector<Parked> parked;
  /// Estimated time until an item or a fleet slot may be free, or until the pause ends; nullopt if
  /// unknown.
  std::optional<Duration> next_free;
  std::size_t calls = 1;  ///< number of calls that the claim made
  bool whole = true;      ///< for nothing_free: whether it examined all items of the list
  WaitQueue wait_queue = WaitQueue::none;
  std::size_t other_waiters = 0;
};

/// Result of the claim of a single, named item.
struct ItemClaim {
  enum class Result {
    claimed,
    not_listed,  ///< no such item
    running,     ///< on any host; `detail` is its lock
    quarantined,
    paused,       ///< `detail` is the reason
    fleet_full,   ///< `fleet_concurrency` is reached
    refused,      ///< by Redis; `detail` is the reason
    unavailable,  ///< Redis is unavailable; `detail` is the reason
  };
  Result result = Result::unavailable;
  std::optional<Claim> claim;
  std::string detail;
};

/// Rate at which a host runs the items of a list.
struct RunRate {
  Duration mean_run{0};    ///< moving average, weighted towards recent runs
  Duration claim_took{0};  ///< duration of the last claim
  std::size_t places = 0;  ///< maximum number of runs at once
  std::size_t free = 0;    ///< number of these slots that are free
  std::size_t placed = 0;  ///< number of runs that started with the reply to the last claim
};

/// Claims of items that have no slot yet.
struct PrefetchCount {
  std::size_t claimed = 0;  ///< number that is worth claiming
  /// How many of them may still wait for a slot after the reply. The others are handed back then.
  std::size_t waiting = 0;
};

/// An event of a run for subscribers (`P:events`).
struct RunEvent {
  enum class Kind { start, progress, update };
  Kind kind = Kind::start;
  RunId run;
  DisplayItem item;
  Progress progress;  ///< for `progress`
  std::string data;   ///< for `update`: JSON, as the executor sent it
  int pid = 0;        ///< for `start`
};

/// Callbacks about claims that are held.
class ClaimHandler {
 public:
  virtual ~ClaimHandler() = default;
  /// Called when the lease of this run is lost: another holder has the lock, or the lock no longer
  /// exists. `on_lease_loss` decides what happens to the run.
  virtual void on_lease_lost(const RunId& run) = 0;
  /// Called when a lost lease is regained.
  virtual void on_lease_back(const RunId& run) = 0;
  /// Called when the lease will expire unless it is renewed soon. A claim that waits must not be
  /// started. With `on_lease_loss = "terminate"` the child must be dead before the lease expires.
  /// There is enough time for a SIGKILL, but not for `kill_grace`.
  virtual void on_lease_expiring(const RunId& run) = 0;
  /// Called when a settlement, or a part of it, is abandoned: it is too large to be sent, or Redis
  /// has refused it for too long. The lock expires by itself.
  virtual void on_given_up(const RunId& /*run*/, const std::string& /*why*/) {}
  /// Called when Redis refuses the parts of a settlement other than the lock: history, events and
  /// so on. `why` is the missing permission, with the same text for all lists that lack it. Called
  /// for each settlement that is refused in part, and with an empty text when Redis accepts all
  /// parts again.
  virtual void on_unwritten(const std::string& /*why*/) {}
  /// Called when the item was quarantined until an operator releases it. `why` is for people.
  virtual void on_quarantined(const DisplayItem& /*item*/, const std::string& /*why*/) {}
  /// Called when unsettled() becomes 0.
  virtual void on_all_settled() = 0;
};

class SourceHandler : public ClaimHandler {
 public:
  virtual void on_claimed(ClaimReply&& reply) = 0;
  /// Called when may_claim() becomes true.
  virtual void on_may_claim() = 0;
};

/// Source of the items of one list. Never calls its handler inside a call to this object. There are
/// no callbacks after destruction. Leases of claims are renewed until the claims are settled or
/// handed back.
class Source {
 public:
  virtual ~Source() = default;
  /// Sets the list config. Called before the first claim, and again when the config changes.
  virtual void use(ListConfigPtr rule) = 0;
  /// Returns whether a claim is worthwhile. False after a claim that returned fewer items than
  /// requested, until on_may_claim(), a settlement or a changed list config.
  [[nodiscard]] virtual bool may_claim() const = 0;
  /// Claims up to `wanted` items; on_claimed() is called once. At most one claim may be in flight.
  virtual void claim(std::size_t wanted) = 0;
  using ItemClaimed = std::function<void(ItemClaim&&)>;
  /// Claims one item, even if it is delayed and regardless of the wait queue. `then` is called
  /// once, from the loop. It is not called if the source is destroyed first. Returns false if this
  /// kind of work has no such claims.
  virtual bool claim_item(const Item& /*item*/, ItemClaimed /*then*/) { return false; }
  /// Returns how many items are worth claiming before slots for their runs are free.
  [[nodiscard]] virtual PrefetchCount prefetch_count(const RunRate& /*rate*/) const { return {}; }
  /// Stops waiting for items: no on_may_claim(), and free items are left to other hosts. The next
  /// claim() ends this state, and may_claim() is true until then.
  virtual void stop_waiting() = 0;
  /// Called when there will be no more claims.
  virtual void retire() = 0;
  /// Settles a claim. The settlement is kept and retried while Redis is unavailable. The item is
  /// never lost: if the settlement fails, its lock expires.
  virtual void settle(EndedRun&& run) = 0;
  /// Hands back a claim whose run never started, as if it had not been made.
  virtual void hand_back(const Claim& claim) = 0;
  /// Returns whether other hosts can claim a handed back item immediately. Otherwise a claim
  /// without a slot after a reload is kept until a slot is free, which is sooner.
  [[nodiscard]] virtual bool frees_at_once() const { return true; }
  /// Returns whether the lease of a waiting claim lasts long enough to start its run, which is
  /// until on_lease_expiring() is called.
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  /// Called when the executor has sent the result of a run, which continues until its process ends.
  /// `result`: JSON, as in Complete.
  virtual void completed(const Claim& /*claim*/, const std::string& /*result*/) {}
  /// Returns the number of settlements and hand-backs that Redis has not confirmed yet.
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y

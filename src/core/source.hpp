// The port to where items come from, for every kind of list. A Source knows when it is worth asking
// for items and what their ends mean; a Poller knows neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ended_run.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"

namespace w8y {

/// Why a claim gave fewer items than it was asked for.
enum class ClaimEnd : std::uint8_t {
  more,          ///< it didn't: ask again when there is room
  nothing_free,  ///< every item is running, resting or quarantined
  empty,         ///< there are no items
  paused,        ///< an operator paused the list on all hosts
  halted,        ///< a client's own order (`HALT` of a schedule) stops the list on all hosts
  fleet_full,    ///< `fleet_concurrency` is reached
  unavailable,  ///< Redis, or each gearmand, can't be asked now; the Source says when that ends, by
                ///< on_may_claim()
  refused,      ///< Redis refuses this list: a key of a wrong type, an ACL
};

struct ClaimReply {
  std::vector<Claim> claims;
  ClaimEnd end = ClaimEnd::more;
  std::string detail;  ///< why it is paused, halted, unavailable or refused; for people
};

/// What came of the claim of one item that somebody has named.
struct ItemClaim {
  enum class Result {
    claimed,
    not_listed,  ///< no such item
    running,     ///< here or elsewhere; `detail` is its lock
    quarantined,
    paused,       ///< `detail` is the reason
    fleet_full,   ///< `fleet_concurrency` is reached
    refused,      ///< by Redis; `detail` says why
    unavailable,  ///< Redis can't be asked now; the same
  };
  Result result = Result::unavailable;
  std::optional<Claim> claim;
  std::string detail;
};

/// How fast a host works on a list.
struct RunRate {
  Duration mean_run{0};    ///< weighted towards the last few
  Duration claim_took{0};  ///< the last one
  std::size_t places = 0;  ///< runs at once
};

/// What happened in a run, for whoever listens (`P events`).
struct RunEvent {
  enum class Kind { start, progress, update };
  Kind kind = Kind::start;
  RunId run;
  DisplayItem item;
  Progress progress;  ///< kind progress
  std::string data;   ///< kind update: JSON, as the executor gave it
  int pid = 0;        ///< kind start
};

/// What is told of claims that are held.
class ClaimHandler {
 public:
  virtual ~ClaimHandler() = default;
  /// The lock of this run is another's, or gone for good. `on_lease_loss` says what follows.
  virtual void on_lease_lost(const RunId& run) = 0;
  /// The lease of a run that was lost is ours again.
  virtual void on_lease_back(const RunId& run) = 0;
  /// The lease will expire unless it is renewed soon: a claim that waits is not to be begun, and
  /// with `on_lease_loss = "terminate"` the child has to be dead before. Comes early enough for a
  /// SIGKILL, not for `kill_grace`.
  virtual void on_lease_expiring(const RunId& run) = 0;
  /// Something of a run's end will never be written: more than can be sent, or Redis has refused
  /// it for too long. Its lock runs out by itself.
  virtual void on_given_up(const RunId& /*run*/, const std::string& /*why*/) {}
  /// Redis refuses what is written beside the lock of a run that ends: history, events, and so on.
  /// `why` says what is missing, the same for all lists that lack the same; empty: that is over.
  /// Told at each end that is refused in part, and when it is over.
  virtual void on_unwritten(const std::string& /*why*/) {}
  /// The item is out of circulation, until somebody sets it free: why, for people.
  virtual void on_quarantined(const DisplayItem& /*item*/, const std::string& /*why*/) {}
  /// unsettled() has become 0.
  virtual void on_all_settled() = 0;
};

class SourceHandler : public ClaimHandler {
 public:
  virtual void on_claimed(ClaimReply&& reply) = 0;
  /// may_claim() was false: that is over.
  virtual void on_may_claim() = 0;
};

/// One list. Never calls its handler from inside a call of its own; callbacks stop when it is
/// destroyed. Leases of claims are renewed until they are settled or handed back.
class Source {
 public:
  virtual ~Source() = default;
  /// Before the first claim; and again with a changed rule.
  virtual void use(ListConfigPtr rule) = 0;
  /// Whether a claim is worth it. Not after one that gave fewer items than it was asked for, until
  /// on_may_claim(), a settled run or a changed rule.
  [[nodiscard]] virtual bool may_claim() const = 0;
  /// Up to `wanted` items, at most one claim at a time; answered by one on_claimed().
  virtual void claim(std::size_t wanted) = 0;
  using ItemClaimed = std::function<void(ItemClaim&&)>;
  /// The same of one item, whatever its rest and whose turn it is. `then` is called once, from the
  /// loop; dropped with the source. False: this kind of work has no such claims.
  virtual bool claim_item(const Item& /*item*/, ItemClaimed /*then*/) { return false; }
  /// Items that it is worth claiming before there are places for their runs.
  [[nodiscard]] virtual std::size_t claims_ahead(const RunRate& /*pace*/) const { return 0; }
  /// Nothing is wanted for now: no on_may_claim(), and what becomes free is for others. The next
  /// claim() ends that, and may_claim() is true.
  virtual void stop_waiting() = 0;
  /// There will be no claim any more.
  virtual void retire() = 0;
  /// Ends a claim. Kept and tried again while Redis is away; the item is never lost, at worst its
  /// lock runs out by itself.
  virtual void settle(EndedRun&& run) = 0;
  /// Ends a claim whose run never began, as if it had not been made.
  virtual void hand_back(const Claim& claim) = 0;
  /// Whether others can have at once what is handed back. Else a claim that a reload has left no
  /// place for waits here for one: that is sooner.
  [[nodiscard]] virtual bool frees_at_once() const { return true; }
  /// Whether the lease of a claim that waits here lasts long enough to begin its run: until the
  /// moment at which on_lease_expiring() would be told, and no longer.
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  /// The executor has said what comes of the run, which goes on until its process ends. `result`:
  /// JSON, as in Complete.
  virtual void completed(const Claim& /*claim*/, const std::string& /*result*/) {}
  /// Settlements and hand-backs that Redis has not confirmed yet.
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y

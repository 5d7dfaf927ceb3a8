// Circular list in its store, the port between CircularSource, which decides when to claim and how
// much to scan, and Redis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/source.hpp"
#include "store/circular/settlement.hpp"
#include "store/work_queue.hpp"

namespace w8y::store {

/// State of the wait queue of hosts that found no free item.
enum class Line : std::uint8_t {
  none,     ///< this host does not wait, or alone: any host may claim a free item
  others,   ///< other hosts wait as well: each has its share and takes turns beyond it
  crowded,  ///< more waiters than items: a free item belongs to the next waiter, not to the host
            ///< that freed it
};

/// Result of a scan of the list.
struct PassReply : TakeReply {
  /// Whether the whole list was scanned, not only its edges. For nothing_free.
  bool whole = true;
  Line line = Line::none;
  std::size_t others_in_line = 0;
};

/// How a claim respects the wait queue.
enum class Manner {
  in_turn,
  overdue,  ///< claims a free item that its waiter did not claim in time, regardless of the wait
            ///< queue
};

/// Extent of the scan of a claim that does not find enough items at first.
enum class Scan {
  whole,
  /// One call at both ends of the list. In a list of delayed items, the item with the longest delay
  /// so far is at the left end, and new items are at the right end. A full scan of 100,000 delayed
  /// items would cost Redis more than the next run.
  ends,
};

/// Whether a claim is worthwhile.
struct LookReply {
  bool worth_it = true;
  /// Number of Redis commands; below 1 if one command checked many lists.
  double cost = 1;
  /// Whether keyspace notifications report additions, so that the list needs few polls.
  bool hears = false;
};

class CircularListHandler : public ClaimHandler {
 public:
  virtual void on_claimed(PassReply&& reply) = 0;
  virtual void on_looked(const LookReply& reply) = 0;
  /// Called when a client reports that an item may have become free or was added. Any client can
  /// send this at any rate.
  virtual void on_wake() = 0;
  /// Called when an item has become free and it is this host's turn.
  virtual void on_turn() = 0;
  /// Called when Redis or its channels are available again: notifications may have been missed.
  virtual void on_back() = 0;
  /// Returns whether the idle budget covers a peek at a changed list now.
  [[nodiscard]] virtual bool pays_for_look() = 0;
};

/// Never calls its handler from inside one of its own calls. Callbacks stop when it is destroyed.
class CircularList {
 public:
  virtual ~CircularList() = default;
  /// Sets the list config, before the first claim and after each reload.
  virtual void use(ListConfigPtr rule) = 0;
  /// Claims up to `wanted` items. At most one claim at a time; one on_claimed() follows.
  virtual void claim(std::size_t wanted, Scan scan, Manner manner) = 0;
  /// Claims one item regardless of its delay and of the wait queue. `then` is called once from the
  /// loop, or dropped with the list.
  virtual void claim_item(const Item& item, Source::ItemClaimed then) = 0;
  /// Leaves the wait queue. If it is this host's turn, the next waiter gets it.
  virtual void leave_line() = 0;
  /// Peeks whether a list that was empty, or had no free item, is still in that state, at a
  /// fraction of the cost of a claim. At most one peek at a time; one on_looked() follows.
  virtual void look() = 0;
  /// Returns the expected cost of a peek, see LookReply.
  [[nodiscard]] virtual double look_cost() const = 0;
  /// Sets whether on_wake() is requested.
  virtual void listen(bool on) = 0;
  /// Allows the list to unsubscribe if on_wake() is not requested again within a few seconds. If
  /// all hosts are busy, none of them needs a message for each settlement.
  virtual void may_stop_listening() {}
  // As in Source.
  virtual void settle(Settlement&& settlement) = 0;
  virtual void hand_back(const Claim& claim) = 0;
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y::store

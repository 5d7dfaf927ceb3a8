// Circular list in its store, the port between CircularSource, which decides how much to scan, and
// Redis.
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

/// How a claim respects the wait queue.
enum class Manner {
  in_turn,
  overdue,  ///< claims a free item that its waiter did not claim in time, regardless of the wait
            ///< queue
};

/// Extent of the scan of a claim that does not find enough items at first.
enum class Scan {
  whole,
  /// One call at both ends of the list, and near positions at which an item was free according to
  /// a peek or a message. In a list of delayed items, the item with the longest delay
  /// so far is at the left end, and new items are at the right end. A full scan of 100,000 delayed
  /// items would cost Redis more than the next run.
  ends,
};

/// Whether a claim is worthwhile.
struct LookReply {
  bool worth_it = true;
  /// Number of Redis commands; below 1 if one command checked many lists.
  double cost = 1;
  /// Whether the peek has found the position of a free item. The next claim at both ends of the
  /// list first searches near this position.
  bool located = false;
  /// Time until the next peek at many items that is useful in a list of this length; 0 = not
  /// useful. For a single host: several hosts share these peeks.
  Duration next{};
};

class CircularListHandler : public virtual WorkQueueHandler {
 public:
  virtual void on_looked(const LookReply& reply) = 0;
  /// Called when a client reports that an item may have become free or was added. Any client can
  /// send this at any rate.
  virtual void on_wake() = 0;
  /// Called instead if the message has positions of free items. The next claim at both ends first
  /// searches near these.
  virtual void on_located() = 0;
  /// Called when an item has become free and it is this host's turn.
  virtual void on_turn() = 0;
  /// Called when Redis reports a change of the list that has not necessarily added an item. Redis
  /// reports no further change until the next peek. Any client can cause this at any rate.
  virtual void on_changed() = 0;
};

/// Part of a list that a peek examines. A change that keeps the length is usually a rotation by
/// another host, but can be a new item in place of a removed one.
enum class Look : std::uint8_t {
  items,   ///< the next locks of the list
  many,    ///< ten times as many of them
  end,     ///< the locks at the end at which most clients add items
  length,  ///< only the length, for one command, if no other list peeks at the same time
};

class CircularList : public WorkQueue {
 public:
  /// Claims up to `wanted` items. At most one claim at a time; one on_claimed() follows.
  virtual void claim(std::size_t wanted, Scan scan, Manner manner) = 0;
  /// Claims one item regardless of its delay and of the wait queue. `then` is called once from the
  /// loop, or dropped with the list.
  virtual void claim_item(const Item& item, Source::ItemClaimed then) = 0;
  /// Leaves the wait queue. If it is this host's turn, the next waiter gets it.
  virtual void leave_queue() = 0;
  /// Peeks whether a list that was empty, or had no free item, is still in that state, at a
  /// fraction of the cost of a claim. Makes Redis report the next change of the list, if it can:
  /// hears() is true after the reply. At most one peek at a time; one on_looked() follows.
  virtual void look(Look what) = 0;
  /// Returns whether a peek makes Redis report the next change.
  [[nodiscard]] virtual bool can_hear() const = 0;
  /// Returns the expected cost of a peek, see LookReply.
  [[nodiscard]] virtual double look_cost() const = 0;
  /// Allows the list to unsubscribe if on_wake() is not requested again within a few seconds. If
  /// all hosts are busy, none of them needs a message for each settlement.
  virtual void may_stop_listening() {}
  virtual void settle(Settlement&& settlement) = 0;
};

}  // namespace w8y::store

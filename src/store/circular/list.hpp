// A circular list as its store has it: the port between deciding when to look at which part of it
// (CircularSource) and doing that in Redis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/source.hpp"
#include "store/circular/settlement.hpp"

namespace w8y::store {

/// Hosts that found nothing wait in a line for what becomes free.
enum class Line : std::uint8_t {
  none,     ///< not in it, or alone: what becomes free is for whoever comes
  others,   ///< others are in it too: each has its share, and takes turns beyond it
  crowded,  ///< more than there are items: what becomes free is the next one's, and never ours
};

/// What a pass over the list has come to.
struct PassReply {
  std::vector<Claim> claims;
  ClaimEnd end = ClaimEnd::more;
  /// When an item that is not free now may become free, if the Source saw one: a hint.
  std::optional<Duration> next_free;
  std::string detail;               ///< why it is paused, unavailable or refused; for people
  std::size_t calls = 1;            ///< that the pass took
  std::vector<DisplayItem> parked;  ///< by this pass: longer than max_item
  /// nothing_free: the whole list was looked at, not only its ends.
  bool whole = true;
  Line line = Line::none;
  std::size_t others_in_line = 0;
};

/// How a claim stands to those of others.
enum class Manner {
  in_turn,
  overdue,  ///< something is free that nobody came for: takes it, whoever's turn it is
};

/// How much of a list a claim looks at, if it doesn't find enough before.
enum class Scan {
  whole,
  /// One call's worth, at both ends. Where most items rest, the one that rests longest stands at
  /// the left end, and what is added comes to the right one: looking at a hundred thousand that
  /// rest, to find the next, would cost Redis more than the run.
  ends,
};

/// Whether a claim is worth it.
struct LookReply {
  bool worth_it = true;
  /// Commands that it took: less than 1 where one command asked about many lists.
  double cost = 1;
  /// The Source would hear of what is added (keyspace events): it can be looked at rarely.
  bool hears = false;
};

class CircularListHandler : public ClaimHandler {
 public:
  virtual void on_claimed(PassReply&& reply) = 0;
  virtual void on_looked(const LookReply& reply) = 0;
  /// Somebody says that something may have become free, or was added. Anybody can say that, and as
  /// often as he likes.
  virtual void on_wake() = 0;
  /// Something has become free, and it is our turn.
  virtual void on_turn() = 0;
  /// Redis is back, or its channels: nobody has told us what has happened meanwhile.
  virtual void on_back() = 0;
  /// Whether the idle budget pays now for a look at a list that has changed.
  [[nodiscard]] virtual bool pays_for_look() = 0;
};

/// Never calls its handler from inside a call of its own; callbacks stop when it is destroyed.
class CircularList {
 public:
  virtual ~CircularList() = default;
  /// Before the first claim; and again with a changed rule.
  virtual void use(ListConfigPtr rule) = 0;
  /// Up to `wanted` items, at most one claim at a time; answered by one on_claimed().
  virtual void claim(std::size_t wanted, Scan scan, Manner manner) = 0;
  /// Of one item, whatever its rest and whose turn it is. `then` is called once, from the loop;
  /// dropped with the list.
  virtual void claim_item(const Item& item, Source::ItemClaimed then) = 0;
  /// It does not wait for its turn any more, and passes it on if it has come.
  virtual void leave_line() = 0;
  /// After a claim that found the list empty or nothing free in it: whether that is still so, at a
  /// fraction of a claim's cost. At most one look at a time; answered by one on_looked().
  virtual void look() = 0;
  /// What a look costs, as far as is known: see LookReply.
  [[nodiscard]] virtual double look_cost() const = 0;
  /// Whether on_wake() is wanted.
  virtual void listen(bool on) = 0;
  /// It isn't for now. If it is not again within a few seconds, nothing is heard any more: where
  /// all hosts are busy, none has to be told of each end.
  virtual void may_stop_listening() {}
  // As a Source has them.
  virtual void settle(Settlement&& settlement) = 0;
  virtual void hand_back(const Claim& claim) = 0;
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y::store

// The port to where items come from. A Source knows Redis and its keys; a Poller knows neither.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <w8y/item.hpp>
#include <w8y/outcome.hpp>
#include <w8y/rule.hpp>

namespace w8y {

/// Why a claim gave fewer items than it was asked for.
enum class ClaimEnd {
  more,          ///< it didn't: ask again when there is room
  nothing_free,  ///< the pass is over and every item is running, resting or quarantined
  empty,         ///< there are no items
  paused,        ///< an operator paused the list on all hosts
  fleet_full,    ///< `fleet_concurrency` is reached
  unavailable,   ///< Redis can't be asked now; the Source says when that ends, by on_wake()
  refused,       ///< Redis refuses this list: a key of a wrong type, an ACL
};

/// Hosts that found nothing wait in a line for what becomes free.
enum class Line {
  none,     ///< not in it, or alone: what becomes free is for whoever comes
  others,   ///< others are in it too: each has its share, and takes turns beyond it
  crowded,  ///< more than there are items: what becomes free is the next one's, and never ours
};

struct ClaimReply {
  std::vector<Claim> claims;
  ClaimEnd end = ClaimEnd::more;
  /// When an item that is not free now may become free, if the Source saw one: a hint.
  std::optional<Duration> next_free;
  std::string detail;             ///< why it is paused, unavailable or refused; for people
  std::size_t calls = 1;          ///< commands that the pass took
  std::vector<ShownItem> parked;  ///< by this pass: longer than longest_item
  /// nothing_free: the whole list was looked at, not only its ends.
  bool whole = true;
  Line line = Line::none;
};

/// How a claim stands to those of others.
enum class Manner {
  in_turn,
  overdue,  ///< nothing was heard for a while: takes what is free, whoever's turn it is
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

/// What becomes of an item after its run.
struct SetFree {};
struct RestFor {
  bool after_failure = false;  ///< "rest:backoff", else "rest:cooldown"
  Duration time{0};            ///< > 0
};
struct Quarantine {};
using Rest = std::variant<SetFree, RestFor, Quarantine>;

enum class FailureCount { keep, reset, increment };

/// All that Redis is told about a run that is over: one step, whatever it takes.
struct Settlement {
  Claim claim;
  RulePtr rule;
  Outcome outcome;
  Rest rest;
  FailureCount failures = FailureCount::keep;
  RunEnd end;
  WallTime started{0};
  WallTime ended{0};
};

/// What happened in a run, for whoever listens (`P events`).
struct RunEvent {
  enum class Kind { start, progress, update };
  Kind kind = Kind::start;
  RunId run;
  ShownItem item;
  Progress progress;  ///< kind progress
  std::string data;   ///< kind update: JSON, as the executor gave it
  int pid = 0;        ///< kind start
};

class SourceHandler {
 public:
  virtual ~SourceHandler() = default;
  virtual void on_claimed(ClaimReply&& reply) = 0;
  virtual void on_looked(const LookReply& reply) = 0;
  /// The lock of this run is another's, or gone for good. `on_lease_loss` says what follows.
  virtual void on_lease_lost(const RunId& run) = 0;
  /// The lease of a run that was lost is ours again.
  virtual void on_lease_back(const RunId& run) = 0;
  /// The lease will expire unless it is renewed soon: a claim that waits is not to be begun, and
  /// with `on_lease_loss = "terminate"` the child has to be dead before. Comes early enough for a
  /// SIGKILL, not for `kill_grace`.
  virtual void on_lease_expiring(const RunId& run) = 0;
  /// Somebody says that something may have become free, or was added. Anybody can say that, and as
  /// often as he likes.
  virtual void on_wake() = 0;
  /// Something has become free, and it is our turn.
  virtual void on_turn() = 0;
  /// Another host looks after the list: something has become free for it (`freed`), or it has
  /// looked for what is free and nobody was told of.
  virtual void on_others(bool freed) = 0;
  /// Redis is back, or its channels: what has happened meanwhile, nobody has told us.
  virtual void on_back() = 0;
  /// Something of a run's end will never be written: more than can be sent, or Redis has refused
  /// it for too long. Its lock runs out by itself.
  virtual void on_given_up(const RunId& /*run*/, const std::string& /*why*/) {}
  /// Redis refuses what is written beside the lock of a run that ends: history, events, and so on.
  /// `why` says what is missing, the same for all lists that lack the same; empty: that is over.
  /// Told when it changes.
  virtual void on_unwritten(const std::string& /*why*/) {}
  /// unsettled() has become 0.
  virtual void on_all_settled() = 0;
};

/// One list of Redis. Never calls its handler from inside a call of its own; callbacks stop when it
/// is destroyed. Leases of claims are renewed until they are settled or handed back.
class Source {
 public:
  virtual ~Source() = default;
  /// Before the first claim; and again with a changed rule.
  virtual void use(RulePtr rule) = 0;
  /// Up to `wanted` items, at most one claim at a time; answered by one on_claimed().
  virtual void claim(std::size_t wanted, Scan scan, Manner manner) = 0;
  /// It does not wait for its turn any more, and passes it on if it has come.
  virtual void leave_line() = 0;
  /// After a claim that found the list empty or nothing free in it: whether that is still so, at a
  /// fraction of a claim's cost. At most one look at a time; answered by one on_looked().
  virtual void look() = 0;
  /// What a look costs, as far as is known: see LookReply.
  [[nodiscard]] virtual double look_cost() const = 0;
  /// Ends a claim. Kept and tried again while Redis is away; the item is never lost, at worst its
  /// lock runs out by itself.
  virtual void settle(Settlement&& settlement) = 0;
  /// Ends a claim whose run never began, as if it had not been made.
  virtual void hand_back(const Claim& claim) = 0;
  /// Whether the lease of a claim that waits here lasts long enough to begin its run: until the
  /// moment at which on_lease_expiring() would be told, and no longer.
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  /// Whether on_wake() is wanted: set while the poller has nothing to do.
  virtual void listen(bool on) = 0;
  /// Settlements and hand-backs that Redis has not confirmed yet.
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y

// Arguments and results of the scripts of circular lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/source.hpp"
#include "store/circular/keys.hpp"

namespace w8y::store {

struct ClaimCall {
  const CircularKeys& keys;
  std::string value_prefix;  ///< of the locks: "run:<host>:<pid>:"
  std::vector<RunId> runs;   ///< one per item that is wanted; none: we leave the line
  Duration expiry{0};
  unsigned fleet_limit = 0;
  std::int64_t left = new_pass;  ///< of this pass
  std::size_t held = 0;          ///< items of the list that we have
  bool hears = false;            ///< of our turn, on the wake channel
  /// Nothing was heard for a while: what is free is taken, whoever's turn it is.
  bool overdue = false;
  /// What the index of quarantines says of items that are too long.
  std::string_view parked_note;
  /// Of the longest item that was seen in the list lately; none: nothing is known.
  std::optional<std::size_t> longest;
  std::uint64_t newest_fence = 0;  ///< the largest that we have seen of the list

  static constexpr std::int64_t new_pass = -1;
  /// Scan::ends.
  static constexpr std::int64_t only_ends = -2;
};

struct Taken {
  Item item;
  std::uint64_t fence = 0;
  unsigned failures = 0;
};

enum class ClaimStatus { ok, more, none, empty, paused, full };

struct ClaimResult {
  ClaimStatus status = ClaimStatus::ok;
  std::int64_t left = 0;              ///< none: not looked at
  std::int64_t length = 0;            ///< none, more: of the list
  std::optional<std::size_t> others;  ///< we have a place in the line, and so many others
  std::optional<Duration> next_free;
  std::string detail;
  std::string refused;       ///< by Redis, of what is noted beside the locks
  std::vector<Taken> taken;  ///< taken[i] is locked with runs[i]
  std::vector<DisplayItem> parked;
  std::size_t longest = 0;  ///< bytes of the longest item that was read
  std::size_t bytes = 0;    ///< of all items that were read
};

/// Of one item, whatever its rest and whose turn it is.
struct ClaimItemCall {
  const CircularKeys& keys;
  std::string value;  ///< of the lock
  RunId run;
  Item item;
  Duration expiry{0};
  unsigned fleet_limit = 0;
  std::uint64_t newest_fence = 0;  ///< the largest that we have seen of the list
};

struct ClaimItemResult {
  ItemClaim::Result result = ItemClaim::Result::claimed;
  std::string detail;
  std::uint64_t fence = 0;
  unsigned failures = 0;
};

/// Frees what a claim has locked whose answer was lost: the runs' locks are looked for from the end
/// of the list, where whatever a claim looks at stands, some items in each call.
struct UndoCall {
  const CircularKeys& keys;
  std::string value_prefix;
  std::vector<RunId> runs;
  std::size_t before = 0;   ///< items at the end that were looked at before
  std::size_t at_once = 1;  ///< items that are read at first
};

struct UndoResult {
  std::size_t looked = 0;  ///< items
  std::size_t bytes = 0;   ///< of those
  std::size_t longest = 0;
  bool whole = false;  ///< the list has no more
  std::vector<RunId> freed;
};

struct RenewLock {
  std::string key;
  std::string value;
};
enum class Renewed { foreign = 0, renewed = 1, retaken = 2, gone = 3, refused = 4 };

struct RenewCall {
  const CircularKeys& keys;
  bool fleet = false;  ///< the runs have places in slots
  Duration expiry{0};
  std::vector<RenewLock> locks;
  /// Time of Redis's clock. If the call reaches Redis before it, locks that have expired and are
  /// still free are taken again.
  std::optional<WallTime> retake_until = std::nullopt;
};

struct RenewResult {
  WallTime now{0};              ///< by Redis's clock
  std::vector<Renewed> states;  ///< in the order of the locks
};

struct SettleCall {
  std::string lock;
  std::string value;      ///< by which it is ours; its end is the run's id
  std::string new_value;  ///< empty: free
  Duration new_life{0};   ///< 0: for good
  std::string note;       ///< for good: what the index of quarantines says of it
  std::string failures;   ///< "keep", "reset", "increment"
  Item item;
  RunId run;
  bool again = false;  ///< may have been carried out before
  /// Our lease was over when this was sent: others may have run the item since, even if a renewal
  /// that came late has taken the lock once more.
  bool stale = false;
  HistoryLimits history = HistoryLimits::none();
  std::string event;  ///< JSON; empty: none
  std::string more;   ///< what the history has besides, see history_members()

  [[nodiscard]] bool for_good() const { return !new_value.empty() && new_life == Duration{0}; }
};

/// Forgets failures and quarantines of items that are no longer in their list: some entries of
/// each, chosen at random.
struct SweepCall {
  std::vector<CircularKeys> lists;
  /// Of one hash, in one call.
  static constexpr std::size_t most_entries = 64;
};

struct SweepResult {
  std::size_t lists = 0;  ///< that were looked at
  std::size_t forgotten = 0;
};

/// How lists stand.
struct ListStatsCall {
  std::vector<CircularKeys> lists;
  /// Items that are looked at in one call: as many as are claimed from by one.
  static constexpr std::size_t most_items = 512;
  /// Longer items come round unseen.
  static constexpr std::size_t longest_noted = 1024;
  /// What is noted of a list that nobody asks about any more goes.
  static constexpr Duration life = std::chrono::hours(24);
};

struct ListCounts {
  std::uint64_t length = 0;
  std::uint64_t free = 0;
  std::uint64_t running = 0;
  std::uint64_t resting = 0;
  std::uint64_t quarantined = 0;
  bool estimated = false;  ///< all but the length and what is quarantined
  std::optional<WallTime> lap;
  std::optional<WallTime> oldest;
};

struct ListStatsResult {
  WallTime now{0};                ///< by Redis's clock
  std::vector<ListCounts> lists;  ///< that were looked at: the first one at least
};

}  // namespace w8y::store

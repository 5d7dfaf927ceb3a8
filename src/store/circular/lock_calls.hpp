// Arguments and results of the scripts of circular lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/source.hpp"
#include "store/circular/keys.hpp"
#include "store/renewed.hpp"

namespace w8y::store {

/// Claim of one item regardless of its delay and of the wait queue.
struct ClaimItemCall {
  const CircularKeys& keys;
  std::string value;  ///< of the lock
  RunId run;
  Item item;
  Duration expiry{0};
  unsigned fleet_limit = 0;
  std::uint64_t newest_fence = 0;  ///< the largest fencing token that this host has seen of the
                                   ///< list
};

struct ClaimItemResult {
  ItemClaim::Result result = ItemClaim::Result::claimed;
  std::string detail;
  std::uint64_t fence = 0;
  unsigned failures = 0;
};

struct RenewLock {
  std::string key;
  std::string value;
  bool records = false;  ///< whether the call records the claim for recover()
};

struct RenewCall {
  const CircularKeys& keys;
  bool fleet = false;  ///< whether the runs hold fleet slots
  Duration expiry{0};
  std::vector<RenewLock> locks;
  /// Time of the Redis clock. If the call reaches Redis before it, locks that have expired and are
  /// still free are set again.
  std::optional<WallTime> retake_until = std::nullopt;
};

struct RenewResult {
  WallTime now{0};              ///< by the Redis clock
  std::vector<Renewed> states;  ///< in the order of the locks
};

struct SettleCall {
  std::string lock;
  std::string value;      ///< value by which this host holds the lock; ends with the run ID
  std::string new_value;  ///< empty = free
  Duration new_life{0};   ///< 0 = no expiry
  std::string note;       ///< entry in the index of quarantines, if new_life is 0
  /// "keep", "reset", "increment"; "unstarted": keep, since the claim is handed back.
  std::string failures;
  Item item;
  RunId run;
  bool again = false;  ///< whether it may have been executed before
  /// Whether the lease had ended when this was sent. Another host may have run the item since, even
  /// if a late renewal has set the lock again.
  bool stale = false;
  bool recorded = false;  ///< whether a renewal may have recorded the claim
  HistoryLimits history = HistoryLimits::none();
  std::string event;           ///< JSON; empty = none
  std::string more;            ///< further members of the run record, see history_members()
  std::string kept;            ///< kept_record() if the run causes a quarantine; else empty
  std::string breaker_limits;  ///< breaker_limits(); empty = no breaker
  std::string breaker;         ///< breaker_entry(); if the run causes a quarantine, then its
                               ///< Quarantine::instead in ms
  /// Called when Redis has confirmed that the run has quarantined its item, if the breaker could
  /// prevent that.
  std::function<void()> on_quarantined;

  [[nodiscard]] bool for_good() const { return !new_value.empty() && new_life == Duration{0}; }
};

/// Deletes failures and quarantines of items that are no longer in their list, and finds lists with
/// interrupted runs. Examines a part of the entries of each list, chosen at random.
struct SweepCall {
  std::vector<CircularKeys> lists;
  /// Maximum number of entries of one hash in one call.
  static constexpr std::size_t most_entries = 64;
};

struct SweepResult {
  std::size_t lists = 0;  ///< lists examined
  std::size_t forgotten = 0;
  std::vector<std::size_t> interrupted;  ///< indexes of the lists that have interrupted runs
};

/// Writes the records of interrupted runs.
struct RecoverRunsCall {
  const CircularKeys& keys;
  HistoryLimits history = HistoryLimits::none();
};

/// Reads the statistics of lists.
struct ListStatsCall {
  std::vector<CircularKeys> lists;
  /// Maximum number of items examined in one call, as many as one claim returns.
  static constexpr std::size_t most_items = 512;
  /// Maximum length of an item that is sampled.
  static constexpr std::size_t longest_noted = 1024;
  /// Time after which the samples of a list are deleted if its statistics are no longer read.
  static constexpr Duration life = std::chrono::hours(24);
};

struct ListCounts {
  std::uint64_t length = 0;
  std::uint64_t free = 0;
  std::uint64_t running = 0;
  std::uint64_t resting = 0;
  std::uint64_t quarantined = 0;
  bool estimated = false;  ///< all but `length` and `quarantined` are estimates
  std::optional<WallTime> lap;
  std::optional<WallTime> oldest;
};

struct ListStatsResult {
  WallTime now{0};                ///< by the Redis clock
  std::vector<ListCounts> lists;  ///< lists examined, at least the first
};

}  // namespace w8y::store

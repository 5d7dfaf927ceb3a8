// Claims of circular lists: the arguments and the reply of claim.lua.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/circular/lease_store.hpp"
#include "store/circular/list.hpp"
#include "store/claimer.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

struct CircularScan {
  std::int64_t left = whole;  ///< items that this scan has not examined yet
  std::string near;           ///< for `ends`: positions as in claim.lua, each after a space
  bool overdue = false;  ///< whether free items are claimed regardless of the wait queue, because
                         ///< no message has arrived for some time
  std::size_t held = 0;  ///< items of the list that this host holds
  bool hears = true;     ///< whether this host receives its turn on the wake channel
  std::optional<Duration> next_free;  ///< minimum of all calls so far
  std::int64_t length = 0;            ///< length of the list at the first call

  static constexpr std::int64_t whole = -1;
  static constexpr std::int64_t ends = -2;  ///< Scan::ends
};

struct ScanResult : ClaimResult {
  std::int64_t left = 0;              ///< for nothing_free: items not examined
  std::int64_t length = 0;            ///< for nothing_free and `more`: length of the list
  std::optional<std::size_t> others;  ///< number of other waiters; nullopt = this host does not
                                      ///< wait
  std::vector<ClaimedItem> taken;
};

/// Kind of work of Claimer.
struct CircularClaims : ClaimKind {
  using Store = CircularLeaseStore;
  using Scan = CircularScan;
  using Open = OpenClaim<Store, Scan>;
  using Result = ScanResult;
  static constexpr const redis::Script* script = &scripts::claim;
  static constexpr const char* items = "items";
  static constexpr std::size_t most_claimed = ScriptLocks::most_looked_at;
  static constexpr std::size_t most_bytes = max_item;
  /// Maximum bytes of items that a list may hold, per second of `key_expiry`. Each renewal sends
  /// the item in the name of its lock, and must leave Redis capacity for other calls. One item is
  /// always admitted.
  static constexpr std::size_t most_held_per_second = std::size_t{8} << 20;

  static std::size_t most_held(const ListConfig& rule) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rule.key_expiry).count();
    return most_held_per_second * static_cast<std::size_t>(std::max(seconds, 1L));
  }
  /// Without runs, the host leaves the wait queue.
  static void write(const RedisSession& session, const Open& open, const ClaimMemory& memory,
                    ClaimWords& words);
  static void read(const redis::Reply& reply, const Open& open, Result& result);
  static ScriptCall undo(const RedisSession& session, const Open& open);
  static void set_lock(LeaseTerms& lease, const CircularKeys& keys,
                       const RedisSession::Holder& holder, const ClaimedItem& item) {
    lease.key = keys.lock(item.item);
    lease.value = holder.lock(lease.run);
  }
  static std::size_t bytes_of(const ClaimedItem& item) { return item.item.size(); }
};
using CircularClaimer = Claimer<CircularClaims>;
extern template class Claimer<CircularClaims>;

}  // namespace w8y::store

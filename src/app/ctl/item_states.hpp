// What the items of a circular list are doing, as their locks say (keys.md, "circular").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <w8y/clock.hpp>
#include <w8y/item.hpp>

#include "redis/sync.hpp"
#include "source/keys.hpp"

namespace w8y::app::ctl {

struct ItemState {
  Item item;
  std::size_t copies = 1;  ///< in the list
  const char* state = "free";
  std::string lock;                               ///< its value; empty: none, or no text
  std::optional<std::chrono::milliseconds> left;  ///< of the lock's life; nullopt: it has no end
  std::int64_t failures = 0;                      ///< in a row

  // As far as the lock tells.
  std::string host;
  std::string pid;
  std::string run;                ///< that holds it, or that had it quarantined
  std::optional<WallTime> since;  ///< running: when it was claimed
  std::string why;                ///< resting: "cooldown", "backoff"; quarantined: "manual"
};

/// What the value of a lock says.
void read_lock(ItemState& item);

/// Every item once, in the order of the list. Lists of up to 100,000 items are seen as they are at
/// one moment; each item's state is, too, but not all at the same moment.
std::vector<ItemState> read_items(redis::SyncClient& client, const source::CircularKeys& keys);

}  // namespace w8y::app::ctl

// What the items of a circular list are doing, as their locks say (w8y-keys(7)).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "ops/status_json.hpp"
#include "redis/sync.hpp"
#include "store/circular/keys.hpp"

namespace w8y::app::look {

inline constexpr std::array item_states{"free", "running", "resting", "quarantined"};

struct ItemState {
  Item item;               ///< of a long one the beginning, where Redis may cut it
  std::size_t length = 0;  ///< of all of it
  std::size_t copies = 1;  ///< in the list, or the part of it that was read
  std::size_t place = 0;   ///< its place in the list, of the first copy
  const char* state = "free";
  std::string lock;                               ///< its value; empty: none, or no text
  std::optional<std::chrono::milliseconds> left;  ///< of the lock's life; nullopt: it has no end
  std::int64_t failures = 0;                      ///< in a row

  // As far as the lock tells.
  std::string host;
  std::string pid;
  std::string run;                ///< that holds it, or that had it quarantined
  std::optional<WallTime> since;  ///< running: when it was claimed; quarantined: when that was
  std::string by;                 ///< quarantined: who did it
  std::string why;                ///< resting: "cooldown", "backoff"; quarantined: the reason
  bool parked = false;            ///< running: quarantined at its end

  [[nodiscard]] std::optional<std::int64_t> pid_number() const;
  [[nodiscard]] ShownItem shown() const { return {item, length}; }
  /// `item` is only its beginning.
  [[nodiscard]] bool cut() const { return length > item.size(); }
};

ops::Json to_json(const ItemState& item);

/// What the value of a lock says.
void read_lock(ItemState& item);

struct Items {
  std::vector<ItemState> items;               ///< each once, in the order of the list
  bool whole = true;                          ///< all of the list was looked at
  std::map<std::string, std::size_t> states;  ///< of how many items that were looked at
  std::size_t length = 0;                     ///< of the list, with all copies
};

/// Returns the items in a state (empty: in any), at most `most` of them (0: all). Long items are
/// truncated. If `most` is 0, the rotation by hosts hides no item (store::ListPass). One batch
/// reads the states of 256 items.
Items read_items(redis::SyncClient& client, const store::CircularKeys& keys,
                 const std::string& state = {}, std::size_t most = 0);

/// `count` items from the `first` place on, each once, and what they are doing.
std::vector<ItemState> read_part(redis::SyncClient& client, const store::CircularKeys& keys,
                                 std::size_t first, std::size_t count);

/// A part of a list, from a place on.
struct ItemPart {
  std::vector<ItemState> items;  ///< those that are wanted, each once
  std::size_t end = 0;           ///< the place behind what was read
  bool last = false;             ///< there is no more
  /// What stands before that place, wanted or not; empty: it is too long to be known.
  Item before_end;
  bool moved = false;  ///< another item stood before it: nothing was read
};
/// `wanted`: by what the item is; its state is not known yet. `behind`: the item that stands before
/// `first`, so that a list that turns meanwhile is noticed, also one that turns back; empty: that
/// is not known.
ItemPart read_item_part(redis::SyncClient& client, const store::CircularKeys& keys,
                        std::size_t first, std::size_t count, const Item& behind,
                        const std::function<bool(const ItemState&)>& wanted);

/// One item, by its name; nullopt: it is not in the list.
std::optional<ItemState> read_item(redis::SyncClient& client, const store::CircularKeys& keys,
                                   const Item& item);

}  // namespace w8y::app::look

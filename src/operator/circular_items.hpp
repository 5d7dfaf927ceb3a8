// Items of a circular list and their states, as their locks show them (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "redis/sync.hpp"
#include "store/circular/keys.hpp"
#include "view/item_view.hpp"

namespace w8y::verbs {

/// Sets the state of `item`, its holder and the reason from the value of its lock, `item.lock`.
void read_lock(view::ItemView& item);

/// Returns the items in a state (empty: in any), at most `most` of them (0: all). Long items are
/// truncated. If `most` is 0, the rotation by hosts hides no item (store::ListPass). One batch
/// reads the states of 256 items.
view::ItemList read_items(redis::SyncClient& client, const store::CircularKeys& keys,
                          const std::string& state = {}, std::size_t most = 0);

/// Reads `count` items from index `first` on, each once, with their states.
std::vector<view::ItemView> read_part(redis::SyncClient& client, const store::CircularKeys& keys,
                                      std::size_t first, std::size_t count);

/// Part of a list, from an index on.
struct ItemPart {
  std::vector<view::ItemView> items;  ///< wanted items, each once
  std::size_t end = 0;                ///< index after the last item read
  bool last = false;                  ///< the list has no more items
  /// Item at index `end` - 1, also if it is not wanted. Empty if it is not known completely, for
  /// example because it is too long.
  Item before_end;
  bool moved = false;  ///< the item before `first` is not `behind`; nothing was read
};
/// Reads `count` items from index `first` on. `wanted`: selects items by name; their states are not
/// known yet. `behind`: the item before `first`, which shows whether the list was rotated
/// meanwhile, in either direction; empty: not known.
ItemPart read_item_part(redis::SyncClient& client, const store::CircularKeys& keys,
                        std::size_t first, std::size_t count, const Item& behind,
                        const std::function<bool(const view::ItemView&)>& wanted);

enum class Copies { counted, found };
/// Reads one item by its name. `found`: searches for one copy only, which is faster in a long list.
/// If the item is not in the list, `copies` is 0, and the state is empty unless a run is active.
view::ItemView read_item(redis::SyncClient& client, const store::CircularKeys& keys,
                         const Item& item, Copies copies = Copies::counted);

}  // namespace w8y::verbs

// What the items of a circular list are doing, as their locks say (w8y-keys(7)).
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

/// `count` items from the index `first` on, each once, and what they are doing.
std::vector<view::ItemView> read_part(redis::SyncClient& client, const store::CircularKeys& keys,
                                      std::size_t first, std::size_t count);

/// A part of a list, from a place on.
struct ItemPart {
  std::vector<view::ItemView> items;  ///< those that are wanted, each once
  std::size_t end = 0;                ///< the place behind what was read
  bool last = false;                  ///< there is no more
  /// What stands before that place, wanted or not; empty: it is too long to be known.
  Item before_end;
  bool moved = false;  ///< another item stood before it: nothing was read
};
/// `wanted`: by what the item is; its state is not known yet. `behind`: the item that stands before
/// `first`, so that a list that turns meanwhile is noticed, also one that turns back; empty: that
/// is not known.
ItemPart read_item_part(redis::SyncClient& client, const store::CircularKeys& keys,
                        std::size_t first, std::size_t count, const Item& behind,
                        const std::function<bool(const view::ItemView&)>& wanted);

enum class Copies { counted, found };
/// One item, by its name. `found`: one copy is looked for, which is faster in a long list. If it is
/// not in the list, `copies` is 0, and the state is empty unless a run goes on.
view::ItemView read_item(redis::SyncClient& client, const store::CircularKeys& keys,
                         const Item& item, Copies copies = Copies::counted);

}  // namespace w8y::verbs

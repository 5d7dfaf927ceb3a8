// Iterates over the contents of several keys, key by key and in parts. The next page continues
// where the previous one ended.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/items.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

/// Position within one key.
using Place = std::vector<std::string>;

/// Some names, and the position after each of them.
struct Step {
  std::vector<std::string> names;
  std::vector<Place> behind;
  Place end;             ///< position after all of them
  bool is_last = false;  ///< the key has no more names
};

/// Reads the names of one key. `from`: empty at the start of the key.
using Phase = std::function<Step(const Place& from, std::size_t count)>;

/// Read a hash or a set, in Redis's order. Names that are added or removed meanwhile may be
/// missing.
Phase scanned_hash(redis::SyncClient& client, std::string key);
Phase scanned_set(redis::SyncClient& client, std::string key);
/// Reads a sorted set, the lowest score first.
Phase by_score(redis::SyncClient& client, std::string key);
/// Reads a list from the end where it is claimed from. Items claimed meanwhile are omitted. The
/// first field of a position is its distance from that end.
Phase from_taking_end(redis::SyncClient& client, std::string key);

/// Returns the item of the page for each name of a step; nullopt: not on the page.
using Choose =
    std::function<std::vector<std::optional<view::ItemView>>(std::size_t phase, const Step& step)>;

/// Adds the chosen items to the page and sets the cursor of the next page.
void walk(ItemsPage& page, const std::vector<Phase>& phases, const PageRequest& part,
          const Choose& choose);

}  // namespace w8y::verbs

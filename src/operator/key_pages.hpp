// Walks what stands in several keys, key by key and in parts, so that who asks for the next part
// can go on where the last one ended.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/items.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

/// Where a walk through one key is.
using Place = std::vector<std::string>;

/// Some names, and behind each of them the place to go on from.
struct Step {
  std::vector<std::string> names;
  std::vector<Place> behind;
  Place end;             ///< behind all of them
  bool is_last = false;  ///< the key has no more
};

/// A key that has names. `from`: empty at its begin.
using Phase = std::function<Step(const Place& from, std::size_t count)>;

/// A hash or a set, in Redis's order: what comes or goes meanwhile may be told or not.
Phase scanned_hash(redis::SyncClient& client, std::string key);
Phase scanned_set(redis::SyncClient& client, std::string key);
/// A sorted set, the lowest score first.
Phase by_score(redis::SyncClient& client, std::string key);
/// A list from its end, where it is taken from: what is taken meanwhile is not told. The first
/// field of a place is how far from that end it is.
Phase from_taking_end(redis::SyncClient& client, std::string key);

/// What a page has of each name of a step; nullopt: nothing.
using Choose =
    std::function<std::vector<std::optional<view::ItemView>>(std::size_t phase, const Step& step)>;

/// Adds the chosen items to the page and sets the cursor of the next page.
void walk(ItemsPage& page, const std::vector<Phase>& phases, const PageRequest& part,
          const Choose& choose);

}  // namespace w8y::verbs

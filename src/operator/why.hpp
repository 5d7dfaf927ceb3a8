// Why an item does not run, or a list not faster: the facts, from Redis and from what the fleet
// tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "core/json_object.hpp"
#include "operator/query_context.hpp"
#include "view/why.hpp"

namespace w8y::verbs {

struct WhyQuestion {
  std::string list;
  std::optional<Item> item;
  std::string (*time_text)(WallTime time) = nullptr;

  std::string fleet_trouble;     ///< why the fleet can't be seen; empty: it can
  std::vector<FleetHost> hosts;  ///< each with the list, if its config has it
  FleetOutcome replies;          ///< to the command `runs` for this list; empty: not asked
};

/// A list that nobody knows is taken to be circular. Throws redis::RedisError.
Why explain(QueryContext& query, const WhyQuestion& question);

/// Adds the members of GET /api/v1/lists/…/why.
void put_why(core::JsonObject& json, const WhyQuestion& question, const Why& why);

}  // namespace w8y::verbs

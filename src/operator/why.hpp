// Why an item does not run, or a list not faster: the facts, from Redis and from what the fleet
// tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "operator/query_context.hpp"
#include "view/why.hpp"

namespace w8y::verbs {

struct WhyQuestion {
  std::string list;
  std::optional<Item> item;
  WallTime asked{0};  ///< when, by the clock of the host that gathers the facts
  std::string (*time_text)(WallTime time) = nullptr;

  std::string fleet_error;       ///< why the fleet can't be seen; empty: it can
  std::vector<FleetHost> hosts;  ///< each with the list, if its config has it
  FleetCommandResult replies;    ///< to the command `runs` for this list; empty: not asked
};

/// Explains a list or an item. An unknown list counts as circular. Throws redis::RedisError.
Why explain(QueryContext& query, const WhyQuestion& question);

}  // namespace w8y::verbs

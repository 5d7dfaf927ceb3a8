// Facts that explain why an item does not run, or what limits a list. They are from Redis and from
// the replies of the fleet.
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
  WallTime requested{0};  ///< time of the query, by the clock of the host that collects the facts
  std::string (*time_text)(WallTime time) = nullptr;

  std::string fleet_error;       ///< why the fleet cannot be read; empty: it can
  std::vector<FleetHost> hosts;  ///< each with the list, if its config has it
  FleetCommandResult replies;    ///< to the command `runs` for this list; empty: not sent
};

/// Explains a list or an item. An unknown list counts as circular. Throws redis::RedisError.
Why explain(QueryContext& query, const WhyQuestion& question);

}  // namespace w8y::verbs

// Why an item does not run, or a list not faster: the facts, from Redis and from what the fleet
// tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "core/json_object.hpp"
#include "redis/sync.hpp"
#include "store/circular/keys.hpp"
#include "view/why.hpp"

namespace w8y::verbs {

struct WhyQuestion {
  std::string list;
  std::optional<Item> item;
  SourceKind kind = SourceKind::circular;
  store::CircularKeys keys{""};     ///< of a circular list
  std::vector<std::string> queues;  ///< of a schedule, where that is known
  unsigned max_failures = 0;        ///< of jobs; 0: not known, or none
  std::string (*time_text)(WallTime time) = nullptr;

  std::string fleet;             ///< its name
  std::string fleet_trouble;     ///< why it can't be seen; empty: it can
  std::vector<FleetHost> hosts;  ///< each with the list, if its config has it
  FleetOutcome replies;          ///< to the command `runs` for this list; empty: not asked
};

/// Throws redis::RedisError.
Why look_why(redis::SyncClient& client, const WhyQuestion& question);

/// Adds the members of GET /api/v1/lists/…/why.
void put_why(core::JsonObject& json, const WhyQuestion& question, const Why& why);

}  // namespace w8y::verbs

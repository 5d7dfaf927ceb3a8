// Scenario: other clients remove items of circular lists by all possible commands, and add them
// again later.
#include <algorithm>
#include <iterator>

#include "simulation/scenario.hpp"

namespace w8y::sim {

/// Removes an item, and lets a host run it, like an operator whose view of the list is
/// outdated.
void Scenario::start_removal(const Fault& fault) {
  Server& at = server(fault.server);
  const std::string &list = fault.list, key = list + ":list", away = list + ":away";
  const List* found = at.keys().find<List>(key);
  if (found == nullptr) return;
  const List items = *found;
  // The item at the left end is next.
  const std::uint64_t how = fault.number % 5, dice = fault.number / 8;
  const std::size_t place = how == 1 || dice % 2 == 0 ? 0 : dice / 2 % items.size();
  const std::string item = items[place];
  Words back{"RPUSH", key, item};
  switch (how) {
    case 0:
      user(at, list, {"LREM", key, "0", item});
      break;
    case 1:  // other copies stay
      user(at, list, {"LPOP", key});
      break;
    case 2: {
      const std::string other = "set" + std::to_string(dice % 100);
      user(at, list, {"LSET", key, std::to_string(place), other});
      put_back(at, list, {"LREM", key, "1", other}, fault.time);
      break;
    }
    case 3: {
      Words others{"RPUSH", key};
      std::remove_copy(items.begin(), items.end(), std::back_inserter(others), item);
      user(at, list, {"DEL", key});
      if (others.size() > 2) user(at, list, others);
      break;
    }
    default:
      user(at, list, {"RENAME", key, away});
      back = {"RENAME", away, key};
  }
  host(fault.host).run_item(list, item);
  put_back(at, list, back, fault.time);
}

void Scenario::put_back(Server& at, const std::string& list, const Words& words, Duration after) {
  world_.after(after, [this, &at, list, words] { user(at, list, words); });
}

}  // namespace w8y::sim

// Scenario: client-side caching (CLIENT TRACKING). It reports to hosts at once that any client has
// added an item to an idle list.
#include <algorithm>

#include "core/circular_settings.hpp"
#include "simulation/scenario.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// Maximum time from the push of an item to its claim by a host with a free slot. In a long list,
/// other items may be claimed first and rotated behind the new item, which the next scan finds.
constexpr Duration max_silence = 1s;
constexpr Duration add_pause = 3s;

}  // namespace

void Scenario::start_told(const Fault& fault) {
  Server& at = server(fault.server);
  if (fault.kind == Fault::Kind::untold) {
    at.permit_tracking(false);
    world_.after(fault.time, [&at] { at.permit_tracking(true); });
    return;
  }
  const std::string key = fault.list + ":list", item = "told" + std::to_string(fault.number % 100);
  user(at, fault.list, {"RPUSH", key, item});
  world_.after(Duration(2s), [this, &at, list = fault.list, key, item] {
    user(at, list, {"LREM", key, "0", item});
  });
}

/// Returns whether each host that serves the list has a free slot and uses the server of the users.
bool Scenario::all_hear(const std::string& list) {
  bool somebody = false;
  for (const auto& each : hosts_) {
    if (!has_redis(*each)) continue;
    somebody = true;
    const Supervisor* supervisor = each->supervisor();
    if (supervisor == nullptr || !each->connected() || each->server() != "redis1") return false;
    const auto served = supervisor->lists().find(list);
    if (served == supervisor->lists().end() || !has_room(*each, *served->second)) return false;
  }
  return somebody;
}

/// Returns whether all items are locked under each lock_key of the hosts, so that a new item is
/// next.
bool Scenario::is_at_rest(Server& at, const std::string& list) {
  const List* items = at.keys().find<List>(list + ":list");
  if (items == nullptr) return true;
  for (const auto& each : hosts_) {
    if (!has_redis(*each)) continue;
    const auto& rule = each->supervisor()->lists().at(list)->config();
    const std::string locks = list + ':' + rule.circular().lock_key + ':';
    for (const std::string& item : *items)
      if (!at.keys().exists(locks + item)) return false;
  }
  return true;
}

void Scenario::add_and_look(Random random) {
  if (world_.age() > options_.scale.time - add_pause - max_silence) return;
  const std::string list = settings_.lists[random.below(settings_.lists.size())].name;
  const std::string item = "heard" + std::to_string(random.below(1'000'000));
  // An open breaker lets one item at a time run, with pauses.
  const auto is_open = [this, list] { return delay_by_breaker(first_, list) > Duration{0}; };
  if (all_hear(list) && is_at_rest(first_, list) && !is_open()) {
    user(first_, list, {"RPUSH", list + ":list", item});
    const List* items = first_.keys().find<List>(list + ":list");
    Duration pass{0};
    for (const auto& each : hosts_)
      pass = std::max(
          {pass, time_for_pass(*items, each->name()),
           time_for_calls(items->size() / store::ScriptLocks::most_looked_at, each->name())});
    world_.after(max_silence + pass, [this, list, item, is_open, since = world_.now()] {
      if (!is_open()) return check_added(first_, list, item, since);
      user(first_, list, {"LREM", list + ":list", "0", item});
    });
  }
  world_.after(add_pause, [this, random] { add_and_look(random.fork(1)); });
}

void Scenario::check_added(Server& at, const std::string& list, const std::string& item,
                           Instant since) {
  const Duration waits = world_.now() - since;
  if (promises_.visited(at.name(), list, item) < since && all_hear(list))
    promises_.break_promise("an added item is claimed at once",
                            item + " was added to " + list + " " +
                                std::to_string(waits.count() / 1'000'000) +
                                " s ago, and no host has claimed it",
                            {list, list + ' ' + item});
  user(at, list, {"LREM", list + ":list", "0", item});
}

}  // namespace w8y::sim

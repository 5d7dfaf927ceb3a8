// Scene: a Redis that tells of changed keys (notify-keyspace-events), so that what is added to a
// list at rest is heard of at once, whoever adds it.
#include "simulation/scene.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// From the command that adds an item to its claim, where there is room.
constexpr Duration longest_silence = 1s;
constexpr Duration add_pause = 3s;

}  // namespace

void Scene::begin_told(const Fault& fault) {
  Server& at = server(fault.server);
  if (fault.kind == Fault::Kind::untold) {
    // By an operator, with CONFIG SET. Hosts find out by themselves.
    at.tell_of_keys(false);
    world_.after(fault.time, [&at] { at.tell_of_keys(true); });
    return;
  }
  const std::string key = fault.list + ":list", item = "told" + std::to_string(fault.number % 100);
  user(at, fault.list, {"RPUSH", key, item});
  world_.after(Duration(2s), [this, &at, list = fault.list, key, item] {
    user(at, list, {"LREM", key, "0", item});
  });
}

/// Each host that serves it has room for it, and is where users add.
bool Scene::all_hear(const std::string& list) {
  for (const auto& each : hosts_) {
    const Supervisor* supervisor = each->supervisor();
    if (supervisor == nullptr || !each->connected() || each->server() != "redis1") return false;
    const auto served = supervisor->lists().find(list);
    if (served == supervisor->lists().end() || !has_room(*each, *served->second)) return false;
  }
  return true;
}

void Scene::add_and_look(Random random) {
  if (world_.age() > options_.scale.time - add_pause - longest_silence) return;
  const std::string list = settings_.lists[random.below(settings_.lists.size())].name;
  const std::string item = "heard" + std::to_string(random.below(1'000'000));
  if (all_hear(list)) {
    user(first_, list, {"RPUSH", list + ":list", item});
    world_.after(longest_silence, [this, list, item, since = world_.now()] {
      look_for_added(first_, list, item, since);
    });
  }
  world_.after(add_pause, [this, random] { add_and_look(random.fork(1)); });
}

void Scene::look_for_added(Server& at, const std::string& list, const std::string& item,
                           Instant since) {
  if (promises_.visited(at.name(), list, item) < since && all_hear(list))
    promises_.break_promise("what is added is heard of at once",
                            item + " was added to " + list + " a second ago, and nobody has it",
                            {list, list + ' ' + item});
  user(at, list, {"LREM", list + ":list", "0", item});
}

}  // namespace w8y::sim

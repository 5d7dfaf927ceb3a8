// add.lua and remove.lua, as the model of the store has them.
#include <algorithm>
#include <set>

#include "simulation/scripts.hpp"

namespace w8y::sim {

namespace {

bool starts(const std::string& text, const char* with) {
  return text.starts_with(with);
}

bool is_kept(const std::string& lock) {
  return starts(lock, "rest:") || starts(lock, "quarantine:");
}

/// As w8yctl items says it.
std::string state_of(Keys& keys, const std::string& quarantined, const std::string& item,
                     const std::string& lock) {
  const std::string found = keys.range(lock, 0, 10);
  if (keys.exists(lock) && !is_kept(found)) return "running";
  if (starts(found, "quarantine:") || has_field(keys, quarantined, item)) return "quarantined";
  return keys.exists(lock) ? "resting" : "free";
}

}  // namespace

Value add_items(const ScriptCall& call) {
  Keys& keys = call.keys;
  std::vector<Value> reply;
  Words added, anew, locks;
  std::set<std::string> seen;
  for (std::size_t i = 2; i < call.arg.size(); ++i) {
    const std::string& item = call.arg[i];
    const bool listed = !seen.insert(item).second || is_listed(keys, call.key[0], item);
    if (!listed) {
      anew.push_back(item);
      for (std::size_t lock = 2 * i - 1; lock <= 2 * i; ++lock)
        if (is_kept(keys.range(call.key[lock], 0, 10))) locks.push_back(call.key[lock]);
    }
    const bool adds = !listed || call.arg[0] == "1";
    if (adds) added.push_back(item);
    reply.push_back(Value::of(adds ? 1 : 0));
  }
  if (added.empty()) return Value::array(std::move(reply));
  call.published.push_back({call.arg[1], "added"});
  for (const std::string& lock : locks) keys.remove(lock);
  List& list = keys.get<List>(call.key[0]);
  list.insert(list.end(), added.begin(), added.end());
  keys.tell(call.key[0], "rpush");
  for (const std::string& item : anew) {
    remove_field(keys, call.key[1], item);
    remove_field(keys, call.key[2], item);
  }
  return Value::array(std::move(reply));
}

Value remove_items(const ScriptCall& call) {
  Keys& keys = call.keys;
  std::vector<std::int64_t> reply(call.arg.size() - 1, 0);
  Words items, locks;
  for (std::size_t i = 1; i < call.arg.size(); ++i) {
    const std::string& own = call.key[2 * i + 1];
    if (!call.arg[0].empty() && state_of(keys, call.key[2], call.arg[i], own) != call.arg[0]) {
      reply[i - 1] = -1;
      continue;
    }
    items.push_back(call.arg[i]);
    for (const std::string& lock : {own, call.key[2 * i + 2]})
      if (is_kept(keys.range(lock, 0, 10))) locks.push_back(lock);
  }
  for (const std::string& lock : locks) keys.remove(lock);
  for (std::size_t i = 1; i < call.arg.size(); ++i) {
    if (reply[i - 1] != 0) continue;
    List* list = keys.find<List>(call.key[0]);
    if (list != nullptr) reply[i - 1] = static_cast<std::int64_t>(std::erase(*list, call.arg[i]));
    if (reply[i - 1] > 0) keys.shrunk(call.key[0], "lrem");
  }
  for (const std::string& item : items) {
    remove_field(keys, call.key[1], item);
    remove_field(keys, call.key[2], item);
  }
  std::vector<Value> told;
  for (const std::int64_t each : reply) told.push_back(Value::of(each));
  return Value::array(std::move(told));
}

}  // namespace w8y::sim

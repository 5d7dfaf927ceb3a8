// Scene: hosts whose Redis user may not run scripts, and what can happen to those only: between
// WATCH and EXEC, and to a part of what they send at once.
#include <algorithm>

#include "simulation/scene.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// A claim of one item, and its end.
constexpr double commands_of_plain_run = 45;
/// Each item that a claim looks at before it finds one.
constexpr double commands_of_item = 3;
constexpr std::size_t most_looked_at = 256;
constexpr double commands_of_renewal = 9;
/// Until a race is called off.
constexpr unsigned most_looks = 500;

/// What is asked about the list and of its first items, and two commands for each 32 others: at
/// least for each 8, or for as many as can be read at once where one of them is very long.
double commands_of_pass(std::size_t items, std::size_t longest) {
  const auto at_once = std::min<std::size_t>(8, store::LockStore::at_once(longest));
  return 40 + 2 * static_cast<double>(items) / static_cast<double>(at_once);
}

}  // namespace

/// To all hosts, or to some beside others on the same keys. Other kinds of work need scripts.
void Scene::forbid_scripts(Random random) {
  const bool others = !settings_.others.empty();
  const bool all = !others && random.chance(30);
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const bool last = i + 1 == hosts_.size();
    const bool kept = others && i == 0;  // somebody does the other work
    if (!all && (kept || !(random.chance(50) || (last && plain_.empty())))) continue;
    const std::string& name = hosts_[i]->name();
    plain_.insert(name);
    world_.log(name, "", "may not run scripts");
    for (Server* each : {&first_, &second_}) each->forbid_scripts(name, true);
    settings_of_[name].others.clear();
    hosts_[i]->write_config(settings_of_[name].config_of(name));
  }
}

bool Scene::is_plain(const std::string& host) const {
  return plain_.contains(host);
}

/// Around a reload and other trouble, what it has in force is not what a claim began with.
std::int64_t Scene::fleet_limit(const std::string& name, const std::string& list) {
  const Host& which = host(name);
  const Supervisor* supervisor = which.supervisor();
  if (supervisor == nullptr || promises_.in_trouble(name, which.server(), world_.now())) return 0;
  const auto served = supervisor->lists().find(list);
  return served == supervisor->lists().end() ? 0 : served->second->rule().fleet_concurrency;
}

/// The longest item that a host may know of.
std::size_t Scene::longest_of(const List& items) const {
  std::size_t longest = longest_put_;
  for (const std::string& item : items) longest = std::max(longest, item.size());
  return longest;
}

double Scene::plain_commands(const Host& which, std::uint64_t runs) {
  double renewals = 0, passes = 0;
  std::size_t longest = 0;
  for (const auto& [name, list] : which.supervisor()->lists()) {
    const double expiry = std::chrono::duration<double>(list->rule().key_expiry).count();
    renewals += list->rule().concurrency * 10 / (expiry / 3);
    const List* items = server(which.server()).keys().find<List>(name + ":list");
    if (items == nullptr) continue;
    longest = std::max(longest, items->size());
    // A pass goes on at once, and is paid for afterwards.
    passes += commands_of_pass(items->size(), longest_of(*items));
  }
  const auto looked_at = static_cast<double>(std::min(longest, most_looked_at));
  return (commands_of_plain_run + commands_of_item * looked_at) * static_cast<double>(runs) +
         commands_of_renewal * renewals + passes;
}

/// What is more than all lists wait for is owed, and each list may owe as much.
Duration Scene::time_for_plain_pass(const List& items, const std::string& who) const {
  const double half = settings_of_.at(who).idle_commands / 2.0;
  const double commands = commands_of_pass(items.size(), longest_of(items));
  if (commands <= half) return Duration{0};
  const double seconds = commands * static_cast<double>(settings_.lists.size()) / half;
  return std::min<Duration>(Duration(static_cast<Duration::rep>(seconds * 1e6)),
                            IdlePolls::longest_debt);
}

void Scene::begin_plain(const Fault& fault) {
  promises_.trouble(fault.host, fault.time);
  Server& at = server(fault.server);
  switch (fault.kind) {
    case Fault::Kind::cut_request:
      network_.lose(fault.host, fault.server, Network::Loss::cut);
      break;
    case Fault::Kind::late_loss:
      network_.lose(fault.host, fault.server, Network::Loss::reply, 1 + fault.number % 20);
      break;
    case Fault::Kind::scripts: {
      // An operator changes its ACL; those of other kinds of work keep theirs.
      if (!settings_of_[fault.host].others.empty()) break;
      const bool forbidden = at.forbids_scripts(fault.host);
      plain_.insert(fault.host);
      at.forbid_scripts(fault.host, !forbidden);
      world_.after(fault.time,
                   [&at, &fault, forbidden] { at.forbid_scripts(fault.host, forbidden); });
      break;
    }
    default:
      if (options_.scale.edition == Edition::first) return await_race(at, fault, 1);
      await_race(at, fault, most_looks);
      if (fault.number % 2 == 0) run_what_is_free(at, fault);
  }
}

/// Most locks that a host looks at are those of its own runs, which nobody else may touch.
void Scene::await_race(Server& at, const Fault& fault, unsigned looks) {
  at.at_next_look(fault.host, [this, &at, &fault, looks](const std::string& key) {
    if (!race_for(at, key, fault) && looks > 1) await_race(at, fault, looks - 1);
  });
}

/// An operator asks the host for an item that is free, or rests.
void Scene::run_what_is_free(Server& at, const Fault& fault) {
  const List* items = at.keys().find<List>(fault.list + ":list");
  if (items == nullptr) return;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string& item = (*items)[(fault.number + i) % items->size()];
    const auto* value = at.keys().find<std::string>(fault.list + ":lock:" + item);
    if (value != nullptr && !value->starts_with("rest:")) continue;
    return host(fault.host).run_item(fault.list, item);
  }
}

/// A host has seen a lock, or a part of a list, and is about to change it: what others may do to it
/// is done now.
bool Scene::race_for(Server& at, const std::string& lock, const Fault& fault) {
  if (lock.ends_with(":list")) {
    at.ask("go-w8y", {"LMOVE", lock, lock, "LEFT", "RIGHT"});
    world_.log("go-w8y", lock.substr(0, lock.find(':')), "turns it");
    return true;
  }
  const auto* value = at.keys().find<std::string>(lock);
  const bool rests = value != nullptr && value->starts_with("rest:");
  const auto list = lock.find(':');
  const std::string item = lock.substr(lock.find(':', list + 1) + 1);
  if (value != nullptr && !rests) return false;
  if (rests) {
    promises_.operator_frees(lock.substr(0, list));
    at.ask("operator", {"DEL", lock});
    if (options_.scale.edition == Edition::first) return true;
  }
  const List* items = at.keys().find<List>(lock.substr(0, list) + ":list");
  if (items == nullptr || std::find(items->begin(), items->end(), item) == items->end())
    return false;
  at.ask("go-w8y", {"SET", lock, "go-w8y", "NX", "PX", "3000"});
  world_.log("go-w8y", lock.substr(0, list) + ' ' + brief(item), "is faster");
  world_.after(fault.time + std::chrono::seconds(1), [&at, lock] {
    const auto* now = at.keys().find<std::string>(lock);
    if (now != nullptr && *now == "go-w8y") at.ask("go-w8y", {"DEL", lock});
  });
  return true;
}

}  // namespace w8y::sim

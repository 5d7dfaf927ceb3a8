// Scene: orders to all hosts of the fleet, or to one by its name, by w8yctl's command lines; and
// what has to be so when hosts have answered.
#include <algorithm>

#include "ctl/failure.hpp"
#include "simulation/scenario.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// A host that came a moment ago, or whose connection did, has not beaten yet.
constexpr Duration until_seen = 12s;
/// Who was refused its beats beats again after a minute.
constexpr Duration after_refusal = 75s;
/// drain_timeout, kill_grace, and what it takes to tell of ends.
constexpr Duration max_leave = 30s;
constexpr Duration resume_pause = 1s;
/// A run that was begun before is on its way to its program.
constexpr Duration max_fleet_start = 10ms;
/// Into the calm.
constexpr Duration reload_all = 1s;
/// The same: when all is back, and what was forbidden is so no more.
constexpr Duration first_look = 22s;
constexpr Duration calm_order = 27s;

/// Hosts of an answer of w8yctl; none if it is no JSON.
std::vector<view::JsonFields> hosts_in(const std::string& text) {
  const auto json = view::JsonFields::parse(text);
  return json ? json->objects("hosts") : std::vector<view::JsonFields>();
}

}  // namespace

void Scenario::populate_fleet() {
  for (const auto& each : hosts_) {
    each->joins_fleet();
    each->on_ended = [this, host = each.get()] { left_by_order(*host); };
  }
  promises_.at_birth = [this](const Child& child) { look_at_quiet(child); };
  const Instant calm = World::beginning + options_.scale.time - Scale::calm;
  // Who was out of reach then has what its file says by the time of the looks.
  world_.at(calm + reload_all, [this] {
    for (const auto& each : hosts_) {
      moved_[each->name()].at = world_.now();
      each->reload();
    }
  });
  world_.at(calm + first_look, [this] { look_at_fleet(); });
  world_.at(calm + calm_order, [this] {
    if (!operator_->busy()) order_fleet("redis1", {"reload", "--all", "--json"});
  });
}

void Scenario::start_fleet(const Fault& fault) {
  if (operator_->busy()) return;
  const auto dice = fault.number % 16;
  const bool all = fault.number / 16 % 3 != 0;
  const auto to = [&](const char* what) {
    std::vector<std::string> words{what, "--json"};
    for (const char* word : all ? std::vector{"--all"} : std::vector{"--host", fault.host.c_str()})
      words.emplace_back(word);
    return words;
  };
  if (dice < 6) {
    order_fleet(fault.server, to("quiet"));
    world_.after(fault.time, [this, at = fault.server] { resume_fleet(at); });
  } else if (dice < 9) {
    for (const auto& each : hosts_)
      if (all || each->name() == fault.host) change_config(*each, Random(fault.number));
    order_fleet(fault.server, to("reload"));
  } else if (dice < 12 && world_.age() + max_leave < options_.scale.time - Scale::calm) {
    absence_ = fault.time;
    order_fleet(fault.server, to("drain"));
  } else if (dice < 14) {
    command(fault.server, {"run", fault.list, item_of(server(fault.server), fault.list, dice)});
  } else {
    command(fault.server, {"fleet", "--json"});
  }
}

/// Hosts that nothing is in the way of answer, and do as they say.
void Scenario::order_fleet(const std::string& at, const std::vector<std::string>& words) {
  const Instant started = world_.now();
  const bool all = std::find(words.begin(), words.end(), "--all") != words.end();
  if (words.front() == "resume") quiet_.clear();
  // Jobs whose runs have failed go back at once.
  if (words.front() == "drain") promises_.operator_frees(feed_name);
  for (const auto& each : hosts_) ids_[each->name()] = each->id();
  command(at, words, [this, at, words, started, all](const CommandEnd& end) {
    std::set<std::string> answered;
    for (const view::JsonFields& host : hosts_in(end.out)) {
      const std::string id = host.text("host_id"), result = host.text("result");
      answered.insert(id);
      world_.log("operator", "", id + " says " + result);
      if (result == "done" || result == "accepted") obeyed(words.front(), id, started);
    }
    if (!all || promises_.in_error("operator", at, started - until_seen)) return;
    for (const auto& each : hosts_)
      if (hears_orders(*each, at, started) && !answered.contains(each->id()))
        return promises_.break_promise("orders to the fleet are answered",
                                       each->name() + " has not answered " + words.front(),
                                       {"operator", each->name()});
  });
}

/// Since before the order was given, and until now.
bool Scenario::hears_orders(const Host& which, const std::string& at, Instant started) {
  const std::string& name = which.name();
  return which.alive() && !which.stalled() && which.server() == at && which.connected() &&
         which.started() + until_seen < started && ids_[name] == which.id() &&
         !promises_.in_error(name, at, started - until_seen) &&
         world_.now() > refused_[at] + after_refusal;
}

void Scenario::obeyed(const std::string& order, const std::string& id, Instant started) {
  const auto found = std::find_if(hosts_.begin(), hosts_.end(),
                                  [&](const auto& each) { return each->id() == id; });
  if (found == hosts_.end() || !(*found)->alive()) return;
  const Host& which = **found;
  const auto told = told_directly_.find(which.name());
  const bool as_ordered = told == told_directly_.end() || told->second < started;
  if (order == "quiet" && as_ordered) {
    quiet_[which.name()] = {id, world_.now()};
  } else if (order == "drain") {
    world_.after(max_leave, [this, &which, id] {
      if (which.id() == id && which.alive() && !drained_.contains(id))
        promises_.break_promise("a drain ends", id + " has not left 30 s after the order",
                                {which.name()});
    });
  } else if (order == "resume" && as_ordered && which.state() == HostState::quiet) {
    promises_.break_promise("an order is carried out", id + " is quiet after its resume",
                            {which.name(), "operator"});
  }
}

/// Who has said that it is quiet begins nothing.
void Scenario::look_at_quiet(const Child& child) {
  const auto found = quiet_.find(child.host);
  if (found == quiet_.end() || host(child.host).id() != found->second.id ||
      world_.now() - found->second.since < max_fleet_start)
    return;
  promises_.break_promise(
      "a quiet host begins nothing",
      child.host + " has begun run " + child.claim.run + " of " + brief(child.claim.item),
      {child.host, "operator"});
}

/// All of them at that server, then each that is still quiet where it is by now. Who has no Redis
/// is told on its own socket.
void Scenario::resume_fleet(const std::string& at) {
  const auto again = [this](Duration pause, const std::string& where) {
    world_.after(pause, [this, where] { resume_fleet(where); });
  };
  if (operator_->busy()) return again(resume_pause, at);
  if (!at.empty()) {
    order_fleet(at, {"resume", "--all", "--json"});
    return again(resume_pause, {});
  }
  for (const auto& each : hosts_) {
    if (!each->alive() || each->state() != HostState::quiet) continue;
    quiet_.erase(each->name());
    if (each->server().empty()) {
      told_directly_[each->name()] = world_.now();
      each->quiet(false);
    } else {
      order_fleet(each->server(), {"resume", "--host", each->name(), "--json"});
    }
    return again(resume_pause, {});
  }
}

/// It is gone from its fleet, and has no lock any more.
void Scenario::left_by_order(Host& which) {
  const std::string id = which.id(), name = which.name(), at = which.server();
  world_.log(name, "", "has drained by an order");
  drained_.insert(id);
  promises_.operator_frees(feed_name);
  if (!at.empty() && which.connected() &&
      !promises_.in_error(name, at, world_.now() - until_seen)) {
    const SortedSet* hosts = server(at).keys().find<SortedSet>(store::FleetKeys("w8y-fleet").hosts);
    if (hosts != nullptr && hosts->score(id))
      promises_.break_promise("who has drained leaves its fleet", id + " is still in it", {name});
  }
  promises_.error(name, absence_);
  world_.after(Duration{1}, [this, &which, id] {
    if (which.id() != id) return;
    which.die();
    world_.after(absence_, [&which] { which.start(); });
  });
}

/// In the calm: each host is seen, and at work.
void Scenario::look_at_fleet() {
  if (operator_->busy()) return;
  for (const auto& each : hosts_) ids_[each->name()] = each->id();
  const Instant started = world_.now();
  command("redis1", {"fleet", "--json"}, [this, started](const CommandEnd& end) {
    std::set<std::string> seen;
    for (const view::JsonFields& host : hosts_in(end.out))
      if (host.text("state") == "running") seen.insert(host.text("host_id"));
    for (const auto& each : hosts_)
      if (hears_orders(*each, "redis1", started) && !seen.contains(each->id()))
        promises_.break_promise("hosts are seen in their fleet", each->name() + " is not",
                                {each->name()});
  });
}

}  // namespace w8y::sim

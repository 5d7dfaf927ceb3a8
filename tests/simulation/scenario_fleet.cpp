// Scenario: fleet commands to all hosts or to one host, by command lines of w8yctl, and the
// invariants after the replies.
#include <algorithm>

#include "ctl/failure.hpp"
#include "simulation/scenario.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// Maximum time from the start or reconnect of a host to its heartbeat.
constexpr Duration until_seen = 12s;
/// Maximum time from a refused heartbeat to the next one, which follows after a minute.
constexpr Duration after_refusal = 75s;
/// drain_timeout, kill_grace, and the time for settlements.
constexpr Duration max_leave = 30s;
constexpr Duration resume_pause = 1s;
/// Maximum time from the start of a run to the start of its program.
constexpr Duration max_fleet_start = 10ms;
/// Time after the start of the calm.
constexpr Duration reload_all = 1s;
/// Times after the start of the calm, when all hosts have recovered and no command is forbidden.
constexpr Duration first_look = 22s;
constexpr Duration calm_order = 27s;

/// Returns the hosts in the output of w8yctl; none if it is not valid JSON.
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
  promises_.at_birth = [this](const Child& child) { check_quiet(child); };
  const Instant calm = World::beginning + options_.scale.time - Scale::calm;
  // A host that was not reachable applies its config file before the checks.
  world_.at(calm + reload_all, [this] {
    for (const auto& each : hosts_) {
      moved_[each->name()].at = world_.now();
      each->reload();
    }
  });
  world_.at(calm + first_look, [this] { check_fleet(); });
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

/// Sends a fleet command. Checks that hosts without a fault reply and carry it out.
void Scenario::order_fleet(const std::string& at, const std::vector<std::string>& words) {
  const Instant started = world_.now();
  const bool all = std::find(words.begin(), words.end(), "--all") != words.end();
  if (words.front() == "resume") quiet_.clear();
  // A drain returns delayed jobs to their queue at once.
  if (words.front() == "drain") promises_.operator_frees(feed_name);
  for (const auto& each : hosts_) ids_[each->name()] = each->id();
  command(at, words, [this, at, words, started, all](const CommandEnd& end) {
    std::set<std::string> answered;
    for (const view::JsonFields& host : hosts_in(end.out)) {
      const std::string id = host.text("host_id"), result = host.text("result");
      answered.insert(id);
      world_.log("operator", "", id + " replies " + result);
      if (result == "done" || result == "accepted") obeyed(words.front(), id, started);
    }
    if (!all || promises_.in_error("operator", at, started - until_seen)) return;
    for (const auto& each : hosts_)
      if (receives_commands(*each, at, started) && !answered.contains(each->id()))
        return promises_.break_promise("hosts reply to fleet commands",
                                       each->name() + " has not replied to " + words.front(),
                                       {"operator", each->name()});
  });
}

/// Returns whether a host could receive fleet commands from before `started` until now.
bool Scenario::receives_commands(const Host& which, const std::string& at, Instant started) {
  const std::string& name = which.name();
  return which.alive() && !which.stalled() && which.server() == at && which.connected() &&
         std::max(which.started(), moved_[name].at) + until_seen < started &&
         ids_[name] == which.id() && !promises_.in_error(name, at, started - until_seen) &&
         world_.now() > refused_[at] + after_refusal;
}

void Scenario::obeyed(const std::string& order, const std::string& id, Instant started) {
  const auto found = std::find_if(hosts_.begin(), hosts_.end(),
                                  [&](const auto& each) { return each->id() == id; });
  if (found == hosts_.end() || !(*found)->alive()) return;
  const Host& which = **found;
  const auto told = directly_commanded_.find(which.name());
  const bool as_ordered = told == directly_commanded_.end() || told->second < started;
  if (order == "quiet" && as_ordered) {
    quiet_[which.name()] = {id, world_.now()};
  } else if (order == "drain") {
    world_.after(max_leave, [this, &which, id] {
      if (which.id() == id && which.alive() && !drained_.contains(id))
        promises_.break_promise("a drain ends", id + " has not left 30 s after the command",
                                {which.name()});
    });
  } else if (order == "resume" && as_ordered && which.state() == HostState::quiet) {
    promises_.break_promise("a fleet command is carried out", id + " is quiet after its resume",
                            {which.name(), "operator"});
  }
}

/// Checks that a host that has replied that it is quiet starts no run.
void Scenario::check_quiet(const Child& child) {
  const auto found = quiet_.find(child.host);
  if (found == quiet_.end() || host(child.host).id() != found->second.id ||
      world_.now() - found->second.since < max_fleet_start)
    return;
  promises_.break_promise(
      "a quiet host starts no run",
      child.host + " has started run " + child.claim.run + " of " + brief(child.claim.item),
      {child.host, "operator"});
}

/// Resumes all hosts at a server, then each host that is still quiet, at its current server. A host
/// without Redis is resumed over its own socket.
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
      directly_commanded_[each->name()] = world_.now();
      each->quiet(false);
    } else {
      order_fleet(each->server(), {"resume", "--host", each->name(), "--json"});
    }
    return again(resume_pause, {});
  }
}

/// Called when a host has drained by a fleet command. Checks that it has left its fleet.
void Scenario::left_by_order(Host& which) {
  const std::string id = which.id(), name = which.name(), at = which.server();
  world_.log(name, "", "has drained by a fleet command");
  drained_.insert(id);
  promises_.operator_frees(feed_name);
  if (!at.empty() && which.connected() &&
      !promises_.in_error(name, at, world_.now() - until_seen)) {
    const SortedSet* hosts = server(at).keys().find<SortedSet>(store::FleetKeys("w8y-fleet").hosts);
    if (hosts != nullptr && hosts->score(id))
      promises_.break_promise("a drained host leaves its fleet", id + " is still in it", {name});
  }
  promises_.error(name, absence_);
  world_.after(Duration{1}, [this, &which, id] {
    if (which.id() != id) return;
    which.die();
    world_.after(absence_, [&which] { which.start(); });
  });
}

/// Checks in the calm that `w8yctl fleet` shows each host as running.
void Scenario::check_fleet() {
  if (operator_->busy()) return;
  for (const auto& each : hosts_) ids_[each->name()] = each->id();
  const Instant started = world_.now();
  command("redis1", {"fleet", "--json"}, [this, started](const CommandEnd& end) {
    std::set<std::string> seen;
    for (const view::JsonFields& host : hosts_in(end.out))
      if (host.text("state") == "running") seen.insert(host.text("host_id"));
    for (const auto& each : hosts_)
      if (receives_commands(*each, "redis1", started) && !seen.contains(each->id()))
        promises_.break_promise("the fleet shows its hosts", each->name() + " is missing",
                                {each->name()});
  });
}

}  // namespace w8y::sim

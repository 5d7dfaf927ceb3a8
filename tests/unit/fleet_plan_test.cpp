#include "view/fleet_plan.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "view/fleet.hpp"

using namespace w8y;
using namespace std::chrono_literals;

namespace fleet_plan_test {
namespace {

FleetHost planned_host(const std::string& name, const std::string& hash) {
  FleetHost host;
  host.heartbeat.host = name;
  host.heartbeat.id = name + "-00000000";
  host.heartbeat.state = "running";
  host.heartbeat.generation = 1;
  host.heartbeat.config_hash = hash;
  return host;
}

ListStatus reported_list(const std::string& prefix, const std::string& program,
                         std::vector<std::string> caps = {}, const std::string& refused = {}) {
  ListStatus list;
  list.prefix = prefix;
  list.state = refused.empty() ? ListState::idle : ListState::ineligible;
  list.why = refused;
  list.probed = program;
  list.caps = std::move(caps);
  list.concurrency = 1;
  return list;
}

ListConfig planned_rule(const std::string& prefix, const std::string& executor) {
  ListConfig rule;
  rule.prefix = prefix;
  rule.executor = executor;
  return rule;
}

Config planned(std::vector<ListConfig> rules) {
  Config config;
  config.hash = "new";
  for (ListConfig& rule : rules) {
    const std::string prefix = rule.prefix;
    config.lists[prefix] = std::make_shared<const ListConfig>(std::move(rule));
  }
  return config;
}

std::string lacks(const ListConfig& rule, const Caps& caps) {
  for (const auto& cap : *rule.requires_caps)
    if (!caps.has(cap)) return "lacks " + cap;
  return {};
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "fleet plan: it shows limits, added and removed lists, and a host that already has the "
    "config") {
  FleetHost host = planned_host("alpha", "old");
  host.heartbeat.slots_limit = 4;
  host.lists = {reported_list("films", "/opt/films", {"gpu", "single"}),
                reported_list("old", "/opt/films", {"single"})};
  ListConfig films = planned_rule("films", "/opt/films");
  films.concurrency = 8;
  Config config = planned({films, planned_rule("new", "/opt/films")});
  config.supervisor.host_concurrency = 9;
  CHECK(plan_host(host, config, lacks).lines() ==
        Strings{"supervisor: host_concurrency: 4 -> 9", "lists.films: concurrency: 1 -> 8",
                "lists.old: removed, its runs finish", "lists.new: added", "lists.new: would run"});
  host.heartbeat.config_hash = "new";
  CHECK(plan_host(host, config, lacks).same);
}

TEST_CASE("fleet plan: the verdict for a list follows from the capabilities in the list reports") {
  FleetHost host = planned_host("alpha", "old");
  host.lists = {reported_list("films", "/opt/films", {"single"}),
                reported_list("gpu", "/opt/gpu", {"single"}, "lacks gpu"),
                reported_list("none", "/opt/none", {}, "not found"), reported_list("sh", "sh"),
                reported_list("asked", "/opt/asked")};
  host.lists.back().state = ListState::probing;
  ListConfig films = planned_rule("films", "/opt/films");
  films.requires_caps = {"gpu"};
  ListConfig off = planned_rule("sh", "");
  off.command = {"sh", "-c", "true"};
  off.enabled = false;
  const HostPlan plan = plan_host(
      host,
      planned({films, planned_rule("gpu", "/opt/gpu"), planned_rule("none", "/opt/none"), off,
               planned_rule("asked", "/opt/asked"), planned_rule("fresh", "/opt/fresh")}),
      lacks);
  CHECK(plan.lines() == Strings{"lists.sh: enabled: true -> false", "lists.fresh: added",
                                "lists.films: would be ineligible: lacks gpu",
                                "lists.fresh: /opt/fresh has not been probed on that host",
                                "lists.gpu: would run", "lists.sh: would be disabled"});
  const auto verdict = [&](const std::string& prefix) {
    for (const auto& each : plan.verdicts)
      if (each.prefix == prefix) return std::string(verdict_name(each.kind));
    return std::string();
  };
  CHECK(verdict("none") == "ineligible");  // still ineligible
  CHECK(verdict("asked") == "unknown");
}

TEST_CASE("fleet plan: capabilities of a program are known from the report of another list") {
  FleetHost host = planned_host("alpha", "old");
  host.lists = {reported_list("a", "/opt/a", {"single"}),
                reported_list("b", "/opt/b", {"single", "gpu"})};
  ListConfig moved = planned_rule("a", "/opt/b");
  moved.requires_caps = {"gpu"};
  CHECK(plan_host(host, planned({moved, planned_rule("b", "/opt/b")}), lacks).lines() ==
        Strings{"lists.a: program: /opt/a -> /opt/b"});
}

}  // namespace fleet_plan_test

#include "view/fleet_plan.hpp"

#include <algorithm>
#include <array>

#include "core/escape.hpp"
#include "view/list_view.hpp"

namespace w8y {

namespace {

Settings reported_settings(const ListStatus& list) {
  return {{"concurrency", std::to_string(list.concurrency)},
          {"fleet_concurrency", std::to_string(list.fleet_concurrency)},
          {"weight", std::to_string(list.weight)},
          {"enabled", list.enabled ? "true" : "false"},
          {"program", escape_text(list.probed)}};
}

/// Returns the settings of a list config. The program is truncated as in a list report.
Settings reported_settings(const ListConfig& rule) {
  ListStatus list;
  list.concurrency = rule.concurrency;
  list.fleet_concurrency = rule.fleet_concurrency;
  list.weight = rule.weight;
  list.enabled = rule.enabled;
  list.probed = rule.program();
  return reported_settings(view::read_report({}, view::to_json(list, view::report)).value_or(list));
}

ListVerdict::Kind kind_now(const ListStatus& list) {
  if (list.state == ListState::ineligible) return ListVerdict::Kind::refused;
  if (list.state == ListState::probing) return ListVerdict::Kind::unknown;
  const bool on = list.enabled && list.concurrency > 0;
  return on ? ListVerdict::Kind::runs : ListVerdict::Kind::disabled;
}

/// Returns a list whose report has the probe result of a program: this list, or another list with
/// the program.
const ListStatus* known_of(const FleetHost& host, const std::string& prefix,
                           const std::string& program) {
  const ListStatus* known = nullptr;
  for (const ListStatus& list : host.lists) {
    if (list.probed != program || list.state == ListState::probing) continue;
    if (known == nullptr || list.prefix == prefix) known = &list;
  }
  return known;
}

ListVerdict judge_list(const FleetHost& host, const ListConfig& rule, const std::string& program,
                       const WhyNot& why_not) {
  using Kind = ListVerdict::Kind;
  ListVerdict verdict{rule.prefix, Kind::runs, {}, false};
  const ListStatus* known = known_of(host, rule.prefix, program);
  if (known == nullptr) {
    verdict.kind = Kind::unknown;
    verdict.why = escape_text(program) + " has not been probed on that host";
  } else if (!known->caps.empty()) {
    verdict.why = why_not(rule, Caps{known->caps, 1, known->executor_version});
    if (!verdict.why.empty()) verdict.kind = Kind::refused;
  } else if (known->state == ListState::ineligible) {
    verdict.kind = Kind::refused;
    verdict.why = known->why;
  }
  if (verdict.kind == Kind::runs && (!rule.enabled || rule.concurrency == 0))
    verdict.kind = Kind::disabled;
  return verdict;
}

}  // namespace

const char* verdict_name(ListVerdict::Kind kind) {
  constexpr std::array names = {"runs", "disabled", "ineligible", "unknown", "gone"};
  return names.at(static_cast<std::size_t>(kind));
}

HostPlan plan_host(const FleetHost& host, const Config& config, const WhyNot& why_not) {
  HostPlan plan;
  plan.same = host.heartbeat.config_hash == config.hash;
  ConfigText before;
  ConfigText after;
  before.supervisor["host_concurrency"] = std::to_string(host.heartbeat.slots_limit);
  after.supervisor["host_concurrency"] = std::to_string(config.supervisor.host_concurrency);
  for (const ListStatus& list : host.lists) before.lists[list.prefix] = reported_settings(list);
  for (const auto& [prefix, rule] : config.lists) {
    after.lists[prefix] = reported_settings(*rule);
    ListVerdict verdict = judge_list(host, *rule, rule->program(), why_not);
    const auto now =
        std::find_if(host.lists.begin(), host.lists.end(),
                     [&verdict](const ListStatus& list) { return list.prefix == verdict.prefix; });
    verdict.changed = now == host.lists.end() || kind_now(*now) != verdict.kind ||
                      (verdict.kind == ListVerdict::Kind::refused && now->why != verdict.why);
    plan.verdicts.push_back(std::move(verdict));
  }
  for (const ListStatus& list : host.lists)
    if (!config.lists.contains(list.prefix))
      plan.verdicts.push_back({list.prefix, ListVerdict::Kind::gone, {}, true});
  std::sort(plan.verdicts.begin(), plan.verdicts.end(),
            [](const ListVerdict& a, const ListVerdict& b) { return a.prefix < b.prefix; });
  plan.changes = plan_reload(before, after);
  return plan;
}

std::vector<std::string> HostPlan::lines() const {
  std::vector<std::string> lines = changes.lines();
  for (const ListVerdict& verdict : verdicts) {
    const std::string list = "lists." + escape_text(verdict.prefix) + ": ";
    if (!verdict.changed) continue;
    switch (verdict.kind) {
      case ListVerdict::Kind::runs:
        lines.push_back(list + "would run");
        break;
      case ListVerdict::Kind::disabled:
        lines.push_back(list + "would be disabled");
        break;
      case ListVerdict::Kind::refused:
        lines.push_back(list + "would be ineligible: " + escape(verdict.why));
        break;
      case ListVerdict::Kind::unknown:
        lines.push_back(list + verdict.why);
        break;
      case ListVerdict::Kind::gone:  // it is among the changes
        break;
    }
  }
  return lines;
}

}  // namespace w8y

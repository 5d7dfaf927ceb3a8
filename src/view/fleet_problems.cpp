#include "view/fleet_problems.hpp"

#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "core/units.hpp"

namespace w8y {

namespace {

using Kind = Problem::Kind;

/// Returns whether the host does not serve a list in this state, now and later.
bool is_unserved(ListState state) {
  return state == ListState::ineligible || state == ListState::disabled;
}

}  // namespace

void FleetProblems::add(Kind kind, const std::string& host, std::string text) {
  Problem& problem = found_.emplace_back();
  problem.kind = kind;
  problem.host = host;
  problem.text = std::move(text);
}

void FleetProblems::add(const FleetHost& host) {
  const HostHeartbeat& heartbeat = host.heartbeat;
  const std::string name = escape_text(heartbeat.host);
  const auto age = [this](WallTime time) {
    return rough_duration(std::max(WallTime(0), now_ - time));
  };
  if (host.unresponsive)
    return add(Kind::unresponsive, heartbeat.host,
               "host " + name + " has been unresponsive for " + age(host.last_heartbeat) +
                   "; start it again, or remove it: w8yctl fleet forget " +
                   shell_argument(heartbeat.host));
  if (heartbeat.reload_failed.count() != 0)
    add(Kind::config_outdated, heartbeat.host,
        name + ": reload failed " + age(heartbeat.reload_failed) +
            " ago: " + escape(heartbeat.reload_error));
  else if (host.config_outdated)
    add(Kind::config_outdated, heartbeat.host,
        name + ": its config is outdated, applied " + age(heartbeat.applied) +
            " ago; update its file, then: w8yctl reload --host " + shell_argument(heartbeat.host));
  const WallTime offset = heartbeat.clock_offset;
  if (offset > max_clock_offset || offset < -max_clock_offset)
    add(Kind::clock, heartbeat.host,
        name + ": its clock is " + rough_duration(offset < WallTime{0} ? -offset : offset) +
            (offset < WallTime{0} ? " behind" : " ahead of") + " the clock of Redis; correct it");
  const auto state = host_state(heartbeat.state);
  if (state == HostState::quiet)
    add(Kind::quiet, heartbeat.host,
        name + ": quiet, starting no new runs; to end that: w8yctl resume --host " +
            shell_argument(heartbeat.host));
  if (state == HostState::draining)
    add(Kind::draining, heartbeat.host,
        name + ": draining, starting no new runs, exiting after the active ones");
  std::map<std::string, std::vector<std::string>> starved;  // by reason
  for (const ListStatus& list : host.lists) {
    if (list.state == ListState::starved) starved[list.why].push_back(list.prefix);
    Served& served = lists_[list.prefix];
    if (!is_unserved(list.state)) served.by_any = true;
    if (list.state == ListState::ineligible && served.why.empty())
      served.why = name + ": " + list.why;
  }
  for (auto& [why, lists] : starved)
    add_lists(Kind::starved, heartbeat.host, name + ": short of resources for ", std::move(lists),
              why);
}

/// Adds a problem of several lists, with the same reason.
void FleetProblems::add_lists(Kind kind, const std::string& host, const std::string& start,
                              std::vector<std::string>&& lists, const std::string& why) {
  Problem problem;
  problem.kind = kind;
  problem.host = host;
  problem.lists = lists.size();
  lists.resize(std::min(lists.size(), Problems::max_named));
  std::vector<std::string> names;
  for (const std::string& prefix : lists) names.push_back(escape_text(prefix));
  problem.text = start + joined(names, problem.lists) + ": " + escape(why);
  problem.first = std::move(lists);
  found_.push_back(std::move(problem));
}

std::vector<Problem> FleetProblems::drain() {
  std::map<std::string, std::vector<std::string>> unserved;  // by reason
  for (const auto& [prefix, served] : std::exchange(lists_, {}))
    if (!served.by_any && !served.why.empty()) unserved[served.why].push_back(prefix);
  for (auto& [why, lists] : unserved)
    add_lists(Kind::ineligible, {}, "no host serves ", std::move(lists), why);
  std::ranges::stable_sort(found_, {}, &Problem::kind);
  return std::exchange(found_, {});
}

}  // namespace w8y

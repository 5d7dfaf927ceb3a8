#include "operator/schedule_hosts.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "operator/fleet.hpp"
#include "view/list_view.hpp"

namespace w8y::verbs {

namespace {

void add_hosts_of(const QueryContext& query, const std::string& name, const std::string& prefix,
                  ScheduleHosts& found) {
  for (const FleetHost& host : hosts_of_list(query, name).hosts) {
    if (host.unresponsive) continue;
    found.known = found.known && host.error.empty() && host.lists_error.empty();
    const auto list = std::find_if(host.lists.begin(), host.lists.end(),
                                   [&](const ListStatus& each) { return each.prefix == name; });
    if (list == host.lists.end()) continue;
    if (list->key_prefix.value_or(name) != prefix) continue;
    if (list->queues.empty()) found.known = false;  // not a schedule
    if (!found.known) return;
    found.configured = true;
    if (list->state != ListState::ineligible && list->state != ListState::disabled)
      found.queues.insert(list->queues.begin(), list->queues.end());
  }
}

/// Hosts whose list reports are read if no config is known.
constexpr std::size_t max_reporting_hosts = 3;

/// Returns the names of the lists with this key prefix, by the config, otherwise by reports.
std::vector<std::string> lists_with(const QueryContext& query, const std::string& prefix) {
  std::set<std::string> names{prefix};
  if (query.lists != nullptr) {
    const auto known = query.lists->with_key_prefix(prefix);
    names.insert(known.begin(), known.end());
    return {names.begin(), names.end()};
  }
  FleetView fleet = fleet_hosts(query);
  for (std::size_t i = 0; i < std::min(fleet.hosts.size(), max_reporting_hosts); ++i)
    each_report(query, fleet.hosts[i], [&](const std::string& name, const std::string& text) {
      if (text.find("\"key_prefix") == std::string::npos) return true;
      const auto list = view::read_report(name, text);
      if (list && list->key_prefix == prefix) names.insert(name);
      return true;
    });
  return {names.begin(), names.end()};
}

}  // namespace

ScheduleHosts hosts_of_schedule(const QueryContext& query, const std::string& prefix) {
  ScheduleHosts found;
  try {
    for (const std::string& list : lists_with(query, prefix))
      if (found.known) add_hosts_of(query, list, prefix, found);
  } catch (const std::exception&) {
    found.known = false;
  }
  if (!found.known) found = {false, false, {}};
  return found;
}

}  // namespace w8y::verbs

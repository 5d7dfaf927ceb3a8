#include "operator/schedule_hosts.hpp"

#include <algorithm>
#include <vector>

#include "operator/fleet.hpp"
#include "operator/key_prefixes.hpp"

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

}  // namespace

ScheduleHosts hosts_of_schedule(const QueryContext& query, const std::string& prefix) {
  ScheduleHosts found;
  try {
    const std::vector<std::string> lists = lists_with_key_prefix(query, prefix);
    std::set<std::string> names(lists.begin(), lists.end());
    names.insert(prefix);
    for (const std::string& list : names)
      if (found.known) add_hosts_of(query, list, prefix, found);
  } catch (const std::exception&) {
    found.known = false;
  }
  if (!found.known) found = {false, false, {}};
  return found;
}

}  // namespace w8y::verbs

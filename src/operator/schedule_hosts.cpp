#include "operator/schedule_hosts.hpp"

#include <algorithm>

#include "operator/fleet.hpp"

namespace w8y::verbs {

ScheduleHosts hosts_of_schedule(const QueryContext& query, const std::string& prefix) {
  ScheduleHosts found;
  try {
    for (const FleetHost& host : hosts_of_list(query, prefix).hosts) {
      if (host.unresponsive) continue;
      found.known = found.known && host.error.empty() && host.lists_error.empty();
      const auto list = std::find_if(host.lists.begin(), host.lists.end(),
                                     [&](const ListStatus& each) { return each.prefix == prefix; });
      if (list == host.lists.end()) continue;
      if (list->queues.empty()) return {false, false, {}};  // not a schedule
      found.configured = true;
      if (list->state != ListState::ineligible && list->state != ListState::disabled)
        found.queues.insert(list->queues.begin(), list->queues.end());
    }
  } catch (const std::exception&) {
    found.known = false;
  }
  if (!found.known) found = {false, false, {}};
  return found;
}

}  // namespace w8y::verbs

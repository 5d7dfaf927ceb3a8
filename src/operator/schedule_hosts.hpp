// Hosts that serve a schedule.
#pragma once

#include <set>
#include <string>

#include "operator/query_context.hpp"

namespace w8y::verbs {

struct ScheduleHosts {
  bool known = true;             ///< false: the fleet cannot be read, and the rest is empty
  bool configured = false;       ///< the config of a live host has the schedule
  std::set<std::string> queues;  ///< codes that a live host serves, escaped
};

/// Reads the hosts of a schedule. A host that is ineligible for the list, has disabled it or is
/// unresponsive serves no queue. Never throws: a client may not have the permission to read the
/// fleet.
ScheduleHosts hosts_of_schedule(const QueryContext& query, const std::string& prefix);

}  // namespace w8y::verbs

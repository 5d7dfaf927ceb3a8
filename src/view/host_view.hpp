// JSON of a host: of this host, in heartbeats, and in the fleet.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "view/field.hpp"
#include "view/fleet.hpp"

namespace w8y::view {

/// Returns the names of the members of this host, of a heartbeat, and of a host of the fleet.
std::vector<std::string_view> host_names(unsigned surfaces);

/// Adds the fields of GET /api/v1/status. With `host_page`, adds the fields of GET /api/v1/live,
/// which exclude those that change all the time.
void put_host(core::JsonObject& json, const HostStatus& host, Surface surface);
/// Adds the fields of a host of GET /api/v1/fleet, without its lists.
void put_host(core::JsonObject& json, const FleetHost& host);
/// Returns a host of GET /api/v1/fleet as a JSON object. With `lists`, includes as many lists as
/// fit into `most` bytes. Consumes the host, so that its lists and their JSON need no more memory
/// than one of the two.
std::string to_json(FleetHost&& host, bool lists,
                    std::size_t most = std::numeric_limits<std::size_t>::max());
/// Adds the fields of a fleet, without its hosts.
void put_fleet(core::JsonObject& json, const FleetView& view);
/// Reads the output of put_fleet() and the member "hosts".
FleetView read_fleet(const JsonFields& json);
/// Reads the fields that put_host() writes.
HostStatus read_host(const JsonFields& json);
/// Reads a host of the fleet, with "lists_error", "lists_truncated" and "lists".
FleetHost read_fleet_host(const JsonFields& json);

}  // namespace w8y::view

// A host as it is shown: by itself, in its heartbeats, in the fleet.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "view/field.hpp"
#include "view/fleet.hpp"

namespace w8y::view {

/// Names of the members of this host, of a heartbeat, of a host of the fleet.
std::vector<std::string_view> host_names(unsigned surfaces);

/// Adds the fields of GET /api/v1/status, or with `host_page` those of GET /api/v1/live, which
/// leave out what changes all the time.
void put_host(core::JsonObject& json, const HostStatus& host, Surface surface);
/// Adds the fields of a host of GET /api/v1/fleet, without its lists.
void put_host(core::JsonObject& json, const FleetHost& host);
/// Returns the same as a JSON object, with `lists` also the lists: as many as `most` bytes can
/// hold. Consumes the host, so that its lists and their JSON need no more memory than one of them.
std::string to_json(FleetHost&& host, bool lists,
                    std::size_t most = std::numeric_limits<std::size_t>::max());
/// Adds what a fleet has besides its hosts.
void put_fleet(core::JsonObject& json, const FleetView& view);
/// Reads what put_fleet() wrote, and "hosts" beside it.
FleetView read_fleet(const JsonFields& json);
/// Reads the fields that put_host() writes.
HostStatus read_host(const JsonFields& json);
/// Reads the same of a host of the fleet, and "lists_error", "lists_truncated" and "lists".
FleetHost read_fleet_host(const JsonFields& json);

}  // namespace w8y::view

// The fleet as JSON, for the API and w8yctl (w8y-api(7)).
#pragma once

#include <string>

#include <w8y/fleet.hpp>
#include <w8y/fleet_orders.hpp>

#include "ops/status_json.hpp"

namespace w8y::ops {

/// A host's own fields; its lists under "lists" where they were asked for.
Json to_json(const FleetHost& host, bool lists);
Json to_json(const ListBeat& list);
/// A run as the status of its host has it, with its list, and its age for hosts of other clocks.
Json run_json(const std::string& list, const RunStatus& run, WallTime now);
/// Each answer, and who has not answered.
Json to_json(const FleetOutcome& outcome);
/// What to_json() has written; what is not there is empty.
FleetHost read_fleet_host(const Json& json);
/// All of it, as text: as a tree, a thousand hosts would take many times as much.
std::string to_text(const FleetView& view, bool lists);

}  // namespace w8y::ops

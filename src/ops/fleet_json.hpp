// The fleet as JSON, for the API and w8yctl (w8y-api(7)).
#pragma once

#include <string>

#include "ops/fleet_port.hpp"
#include "ops/status_json.hpp"
#include "view/fleet.hpp"
#include "view/fleet_orders.hpp"

namespace w8y::ops {

/// A host without its lists.
Json to_json(const FleetHost& host);
/// JSON of a list report. As a tree, a million of them would take many times as much.
std::string list_text(const ListBeat& list);
/// The same for pages: without what they do not show.
std::string list_row(const ListBeat& list);
/// A run as the status of its host has it, with its list, and its age for hosts of other clocks.
Json run_json(const std::string& list, const RunStatus& run, WallTime now);
/// Each answer, and who has not answered.
Json to_json(const FleetOutcome& outcome);
/// What to_json() has written; what is not there is empty.
FleetHost read_fleet_host(const Json& json);
/// What the view has besides its hosts.
Json to_json(const FleetView& view);
/// The view for pages: as many hosts as fit into 128 KiB of text. All open pages get the text again
/// when one heartbeat changes, and a stream holds 256 KiB.
FleetGlance glance_of(const FleetView& view);

}  // namespace w8y::ops

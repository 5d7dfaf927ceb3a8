// JSON of a list: on its host, in the fleet, and on pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pause.hpp"
#include "core/status.hpp"
#include "view/field.hpp"
#include "view/fleet_lists.hpp"

namespace w8y::view {

/// Returns a JSON object with the fields that show on `surface`.
std::string to_json(const ListStatus& list, Surface surface);
/// Returns a list of the fleet, with the fields of this host in the object `here`. `own`: the list
/// of this host; nullptr if only other hosts have it.
std::string to_json(const std::string& prefix, const ListTotals& list, const ListStatus* own,
                    Surface surface);
/// Adds these fields.
void put_fields(core::JsonObject& json, const ListStatus& list, Surface surface);
/// List of the fleet in JSON.
struct ListInFleet {
  ListTotals totals;
  /// List of this host. If only other hosts have the list, it has only the fields that are the same
  /// on all hosts.
  ListStatus list;
  bool here = false;  ///< whether this host has the list
};
/// Reads a list of the fleet. nullopt: its state is missing or unknown.
std::optional<ListInFleet> read_list_in_fleet(const JsonFields& json, Surface surface);
/// Reads the output of to_json(). nullopt: the state is missing or unknown.
std::optional<ListStatus> read_list(const JsonFields& json, Surface surface);
/// Reads a list report. nullopt: not JSON, or longer than a host writes.
std::optional<ListStatus> read_report(const std::string& prefix, std::string_view text);
/// Returns the JSON of pausing and of resuming a list.
std::string pause_json(const std::string& list, const Pause& pause);
std::string resume_json(const std::string& list, bool was_paused);
/// Returns a hash of the fields that do not change with each run.
std::size_t settled_hash(const ListStatus& list);

/// Returns the names of the members of a list on these surfaces.
std::vector<std::string_view> list_names(unsigned surfaces);
/// Returns the names of the members of a list of the fleet, without those in its member `here`.
std::vector<std::string_view> list_in_fleet_names();

/// Returns each counter with its name, such as "timed_out".
std::vector<std::pair<const char*, std::uint64_t>> counts_of(const RunCounters& counters);
/// Returns the number of runs that failed, crashed, timed out or were lost.
std::uint64_t failures(const RunCounters& counters);

}  // namespace w8y::view

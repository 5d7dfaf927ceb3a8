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

namespace w8y::view {

/// Returns a JSON object with the fields that show on `surface`.
std::string to_json(const ListStatus& list, Surface surface);
/// Adds these fields.
void put_fields(core::JsonObject& json, const ListStatus& list, Surface surface);
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

/// Returns each counter with its name, such as "timed_out".
std::vector<std::pair<const char*, std::uint64_t>> counts_of(const RunCounters& counters);
/// Returns the number of runs that failed, crashed, timed out or were lost.
std::uint64_t failures(const RunCounters& counters);

}  // namespace w8y::view

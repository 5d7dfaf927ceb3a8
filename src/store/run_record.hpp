// What is written about runs: messages on `P events`, entries of `P runs` (w8y-keys(7)).
#pragma once

#include <string>

#include "core/list_config.hpp"
#include "core/source.hpp"

namespace w8y::store {

/// `{"type":"start","list":…,"run":…,"item":…,"host":…,"time":ms,…}`: one JSON object. Items that
/// are no UTF-8 stand as "item_base64"; of a long one there is the beginning, and "item_length".
std::string event_json(const ListConfig& rule, const std::string& host, const RunEvent& event,
                       WallTime now);
std::string end_json(const std::string& host, const EndedRun& run);

/// What an entry of the history has besides the members of end_json(), each with a comma before it:
/// `,"bad_lines":2,"stalled":"…","stderr":"…"`; empty: nothing. `stalled`: why the job is.
std::string history_members(const EndedRun& run, const std::string& stalled = {});

/// As the scripts have it: "1000 16777216", or "0".
std::string to_text(const HistoryLimits& limits);

}  // namespace w8y::store

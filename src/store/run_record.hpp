// JSON texts about runs: messages on `P:events`, and run records (w8y-keys(7)).
#pragma once

#include <string>

#include "core/list_config.hpp"
#include "core/source.hpp"

namespace w8y::store {

/// Returns one JSON object: `{"type":"start","list":…,"run":…,"item":…,"host":…,"time":ms,…}`. An
/// item that is not valid UTF-8 is in "item_base64". A long item is truncated, and "item_length"
/// has its length.
std::string event_json(const ListConfig& rule, const std::string& host, const RunEvent& event,
                       WallTime now);
std::string end_json(const std::string& host, const EndedRun& run);

/// Returns the members that a run record has in addition to those of end_json(), each after a
/// comma: `,"bad_lines":2,"stalled":"…","stderr":"…"`. Empty if there are none. `stalled`: why the
/// job is stalled.
std::string history_members(const EndedRun& run, const std::string& stalled = {});

/// Returns the run record that is kept while the quarantine or stall that the run caused lasts. It
/// has only the end of the log output.
std::string kept_record(const std::string& host, const EndedRun& run, const std::string& stalled);

/// Returns the limits of the history to which a run belongs.
const HistoryLimits& history_of(const ListConfig& rule, bool succeeded);

/// Returns the limits as the scripts expect them: "1000 16777216", with the age in ms for failed
/// runs, or "0".
std::string to_text(const HistoryLimits& limits);

}  // namespace w8y::store

// What is written about runs: messages on `P events`, entries of `P runs` (w8y-keys(7)).
#pragma once

#include <string>
#include <vector>

#include <w8y/source.hpp>

namespace w8y::store {

/// `{"type":"start","list":…,"run":…,"item":…,"host":…,"time":ms,…}`: one JSON object. Items that
/// are no UTF-8 stand as "item_base64"; of a long one there is the beginning, and "item_length".
std::string event_json(const Rule& rule, const std::string& host, const RunEvent& event,
                       WallTime now);
std::string end_json(const std::string& host, const EndedRun& run);

/// Field, value, field, value, …: run, item, item_length (of one that is cut), host, outcome,
/// reason, started, ended (Unix ms), attempt, fence, exit (a code, or a signal as "SIGTERM"),
/// result (JSON), stderr, bad_lines; those that say nothing are left out.
std::vector<std::string> history_entry(const std::string& host, const EndedRun& run);

}  // namespace w8y::store

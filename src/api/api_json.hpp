// Events, configs and results of commands as JSON for the API, on one line of ASCII, fit for a
// terminal and for a line of a protocol.
#pragma once

#include <string>

#include "api/control.hpp"
#include "core/events.hpp"
#include "core/json_object.hpp"
#include "core/list_config.hpp"

namespace w8y::api {

std::string to_json(const ConfigText& config);
/// Adds the members of a reply to a command.
void put_result(core::JsonObject& json, const CommandResult& result);
/// Returns the name of the kind: "done", "accepted", …
const char* kind_name(CommandResult::Kind kind);
/// Returns the event with its `type` (event_name()) and the time at which it is sent.
std::string to_json(const Event& event, WallTime now);

}  // namespace w8y::api

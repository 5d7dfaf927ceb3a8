// Problems, events and configs as JSON, for the API.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "core/events.hpp"
#include "core/rule.hpp"
#include "core/status.hpp"
#include "ops/control.hpp"
#include "view/problems.hpp"

namespace w8y::ops {

using Json = nlohmann::ordered_json;

/// Puts bytes under `name`, or base64 under `name`_base64 if they are no UTF-8 (w8y-api(7)).
void put_bytes(Json& object, const std::string& name, std::string_view bytes);
/// Under "item"; where only its beginning is shown, with its length under "item_length".
void put_item(Json& object, const ItemRef& item);
/// Reads what put_bytes() wrote. nullopt: neither is there, both are, or it is no string.
std::optional<std::string> get_bytes(const Json& object, const std::string& name);

Json to_json(const ConfigText& config);
Json to_json(const ControlResult& result);
/// "done", "accepted", …
const char* kind_name(ControlResult::Kind kind);
/// With its `type` (event_name()) and the time it is told.
Json to_json(const Event& event, WallTime now);

/// Deeper nesting is refused: writing JSON takes stack with each level.
inline constexpr std::size_t max_depth = 128;
/// nullopt: not JSON, too deep, or more than `max_values` (json_text::Shape), each of which takes
/// up to 160 bytes. Never throws.
std::optional<Json> parse(std::string_view text,
                          std::size_t max_values = std::numeric_limits<std::size_t>::max());
/// On one line, in ASCII: fit for a terminal and for a line of a protocol. Text that should be
/// UTF-8 and isn't gets U+FFFD: never throws.
std::string dump(const Json& json);

}  // namespace w8y::ops

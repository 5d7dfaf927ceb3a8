// The lines that a `stream` process reads on its standard input (w8y-executor(7)).
#pragma once

#include <string>
#include <string_view>

#include "core/item.hpp"

namespace w8y {

/// Returns `{"type":"item",…}` with its newline. Data that is not UTF-8 is sent as base64.
std::string item_line(const Claim& claim, std::string_view name);
/// Returns `{"type":"cancel",…}` with its newline.
std::string cancel_line(const RunId& run);

}  // namespace w8y

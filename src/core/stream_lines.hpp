// What a `stream` process reads on its standard input (w8y-executor(7)).
#pragma once

#include <string>
#include <string_view>

#include "core/item.hpp"

namespace w8y {

/// `{"type":"item",…}` with its newline. What is not UTF-8 goes as base64.
std::string item_line(const Claim& claim, std::string_view name);
/// `{"type":"cancel",…}` with its newline.
std::string cancel_line(const RunId& run);

}  // namespace w8y

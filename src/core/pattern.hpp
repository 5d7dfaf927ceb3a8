// Patterns for names: '*' matches any bytes, '?' matches one character.
#pragma once

#include <string_view>

namespace w8y::core {

[[nodiscard]] bool is_pattern(std::string_view text);
[[nodiscard]] bool fits(std::string_view pattern, std::string_view name);

}  // namespace w8y::core

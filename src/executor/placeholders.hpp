// Replaces `{}` in a command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.hpp"

namespace w8y::executor {

/// Limit of an argument or a variable: MAX_ARG_STRLEN of Linux, including its final NUL.
inline constexpr std::size_t max_string = std::size_t{128} << 10;

/// Returns `text` with every `{}` replaced by the item. A `{}` in the item is left unchanged.
std::string fill_in(std::string_view text, std::string_view item);

/// Fills in the arguments of a command line; the first one, the program, is left unchanged. Returns
/// an error of the item if it cannot be an argument (contains a NUL byte, or is too long).
std::optional<NotStarted> fill_in(const std::vector<std::string>& words, std::string_view item,
                                  std::vector<std::string>& argv);

/// Returns why a text cannot be an argument: it contains a NUL byte, or is too long. nullopt: it
/// can.
std::optional<NotStarted> no_argument(std::string_view what, std::string_view text);

}  // namespace w8y::executor

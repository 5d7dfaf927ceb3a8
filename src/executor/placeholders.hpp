// `{}` in a command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.hpp"

namespace w8y::executor {

/// A word or a variable of a program: MAX_ARG_STRLEN of Linux, with its final NUL.
inline constexpr std::size_t max_string = std::size_t{128} << 10;

/// `text` with every `{}` replaced by the item; what comes in with the item is left alone.
std::string fill_in(std::string_view text, std::string_view item);

/// The arguments of a command line, the first word (the program) as it is. An item that can't be an
/// argument (a NUL byte, too long) is at fault.
std::optional<NotStarted> fill_in(const std::vector<std::string>& words, std::string_view item,
                                  std::vector<std::string>& argv);

/// Why such a text can't be an argument, if it can't: it holds a NUL byte, or is too long.
std::optional<NotStarted> no_argument(std::string_view what, std::string_view text);

}  // namespace w8y::executor

// The constant parts of error messages, by which runs that failed are grouped.
#pragma once

#include <string>
#include <string_view>

namespace w8y::core {

/// Maximum length of a pattern in bytes.
inline constexpr std::size_t max_error_pattern = 200;

/// Returns the first line of a message with its variable parts replaced:
/// - a UUID by `<uuid>`, and an ID of a run by `<run>`
/// - text in double quotes, backquotes or single quotes by `"…"`
/// - a hexadecimal number (0x…, or at least 8 digits of both kinds) by `<hex>`
/// - a part of a path that has a digit by `…`, and the query of a URL by `?…`
/// - a number, also with points, colons or hyphens as in times and addresses, by `N`
/// A number of at most 3 digits stays after the name of a code: "HTTP 503", "exit status 1".
std::string error_pattern(std::string_view message);

}  // namespace w8y::core

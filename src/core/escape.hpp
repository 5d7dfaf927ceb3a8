// Bytes from outside (items, child output, Redis errors) made fit for a log, a terminal or JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace w8y {

/// Longest value that is shown to people; a longer one is cut and ends in "…".
inline constexpr std::size_t max_shown = 1024;

/// Puts bytes on one line, harmless on a terminal. Control characters (C0, DEL, C1), bytes that are
/// not UTF-8, line separators and marks that change the direction of writing become \n, \r, \t, \e,
/// \xNN or \uNNNN. A backslash becomes \\, so that each text has one meaning. The result is UTF-8
/// and has at most `max` bytes and the "…".
std::string escape(std::string_view bytes, std::size_t max = max_shown);

/// The same for a line that was put together of parts that are escaped already: backslashes stay as
/// they are. Of any length.
std::string escape_line(std::string_view line);

/// The same as escape(), in double quotes where a reader or a parser of logfmt could not tell where
/// it ends: it is empty, has blanks, quotes or '=', or had to be escaped.
std::string escape_text(std::string_view bytes, std::size_t max = max_shown);

/// A JSON string with its quotes, always valid and without any control character. A byte that is
/// not UTF-8 becomes the text \xNN, and can't be told from that very text any more: a program that
/// needs the exact bytes gets base64 instead (w8y-executor(7)).
std::string escape_json(std::string_view bytes, std::size_t max = max_shown);

/// Strict: no overlong forms, no surrogates, nothing over U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

}  // namespace w8y

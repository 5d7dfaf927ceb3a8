// Escapes bytes from outside (items, child output, Redis errors) for a log, a terminal or JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace w8y {

/// Maximum number of bytes of a value that is shown. A longer value is truncated and ends in "…".
inline constexpr std::size_t max_shown = 1024;

/// Returns the bytes on one line that is safe for a terminal. Control characters (C0, DEL, C1),
/// bytes that are not UTF-8, line separators and bidirectional marks become \n, \r, \t, \e, \xNN or
/// \uNNNN. A backslash becomes \\, so that each text has one meaning. The result is UTF-8. It has
/// at most `max` bytes, and "…" if it is truncated.
std::string escape(std::string_view bytes, std::size_t max = max_shown);

/// Escapes a line whose parts are already escaped: backslashes are unchanged. The length is not
/// limited.
std::string escape_line(std::string_view line);

/// Escapes as escape() does, and adds double quotes where a logfmt parser needs them: the text is
/// empty, contains blanks, quotes or '=', or was escaped.
std::string escape_text(std::string_view bytes, std::size_t max = max_shown);

/// Returns an argument of a shell command that stands for these bytes, with single quotes if it has
/// blanks or special characters, and as $'…' (bash, zsh) if its bytes cannot be shown. So bytes
/// from outside never run a command when a user pastes it, also in a shell without $'…'. A NUL byte
/// cannot be part of an argument.
std::string shell_argument(std::string_view bytes);

/// Returns the last argument of a command of w8yctl that stands for an item, as shell_argument()
/// does: behind `--` if it starts with '-', in base64 if it has a NUL byte, and ITEM if it has more
/// than `max_shown` bytes.
std::string shell_item(std::string_view item);

/// Returns a JSON string with its quotes, always valid and without control characters. A byte that
/// is not UTF-8 becomes the text \xNN, which is not distinguishable from the same text in the
/// input. Programs that need the exact bytes get base64 instead (w8y-executor(7)).
std::string escape_json(std::string_view bytes, std::size_t max = max_shown);

/// Strict check: rejects overlong forms, surrogates and code points over U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

}  // namespace w8y

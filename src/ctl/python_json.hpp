// JSON as Python's json.dumps() writes it, byte for byte, for programs that compare it.
#pragma once

#include <string>
#include <string_view>

namespace w8y::ctl {

/// Formats a string: `"…"` in ASCII. A byte that is not UTF-8 is written as Python's
/// "surrogateescape" does: \udcXX.
std::string python_string(std::string_view bytes);
/// Formats a number: `1381720578.0`, `1e+16`, `Infinity`.
std::string python_float(double number);

}  // namespace w8y::ctl

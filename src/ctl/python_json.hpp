// JSON as Python's json.dumps() writes it, byte for byte, where a program may compare it.
#pragma once

#include <string>
#include <string_view>

namespace w8y::ctl {

/// `"…"` in ASCII. A byte that is not UTF-8 is written as Python's "surrogateescape" has it:
/// \udcXX.
std::string python_string(std::string_view bytes);
/// `1381720578.0`, `1e+16`, `Infinity`
std::string python_float(double number);

}  // namespace w8y::ctl

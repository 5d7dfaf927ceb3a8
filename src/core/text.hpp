// Text for people: quotes, and suggestions for unknown names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace w8y::core {

/// Returns the text in double quotes, as a TOML string on one line. Bytes over 127 are unchanged.
std::string quote(std::string_view text);
/// The same, truncated: for errors, where the text may be as long as a file.
std::string quote_start(std::string_view text);
/// Returns a key as in TOML: bare if possible.
std::string quote_key(std::string_view key);
/// Returns `["a", "b"]`.
std::string quote_all(const std::vector<std::string>& texts);

/// Returns the name with the fewest changes, insertions, omissions and swaps of adjacent
/// characters. A part of a name counts as similar to it. Empty if no name is similar enough.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& names);
/// Returns `; did you mean NAME?`, or an empty text if no name is similar.
std::string near_hint(std::string_view name, const std::vector<std::string_view>& names);
/// Returns `did you mean "key"?`. If no name is similar, returns all names, or a reference to the
/// documentation if there are many.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& names);

/// Returns whether a shell accepts the name of the variable: letters, digits and '_', not starting
/// with a digit.
bool is_variable_name(std::string_view name);

}  // namespace w8y::core

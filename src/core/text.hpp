// Text for people: quoting, and names that were meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace w8y::core {

/// In double quotes, as a TOML string on one line. Bytes over 127 stay as they are.
std::string quote(std::string_view text);
/// The same, cut short: for mistakes, where the text may be as long as a file.
std::string quote_start(std::string_view text);
/// A key as TOML writes it: bare if it can be.
std::string quote_key(std::string_view key);
/// `["a", "b"]`
std::string quote_all(const std::vector<std::string>& texts);

/// The name that takes the fewest changes, insertions, omissions and swaps of neighbours; a part of
/// a name counts as near to it. Empty: none is near enough to have been meant.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& names);
/// `did you mean "key"?`, or where to look if none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& names);

/// A variable's name that a shell can hold too: letters, digits and '_', no digit first.
bool is_variable_name(std::string_view name);

}  // namespace w8y::core

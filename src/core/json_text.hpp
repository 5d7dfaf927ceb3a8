// Reads untrusted JSON without building a tree: checks it as a whole, then splits it as text, so
// that forwarded parts are identical to the input to the last digit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::json_text {

/// Maximum nesting of arrays and objects. A text with deeper nesting is rejected.
constexpr std::size_t max_depth = 128;

/// Returns nullopt for valid JSON in valid UTF-8, otherwise the error ("bad JSON at byte 12").
std::optional<std::string> error(std::string_view text);

/// Counts of a JSON text, determined without building a tree. As a tree, an empty array needs 50
/// times the memory of its text.
struct Shape {
  std::size_t depth = 0;    ///< nesting of arrays and objects
  std::size_t values = 0;   ///< upper bound, without names of members
  std::size_t members = 0;  ///< of the outermost array or object
};
Shape shape(std::string_view text);

struct Member {
  std::string key;         ///< decoded
  std::string_view whole;  ///< `"key": value` as in the text
  std::string_view value;  ///< as in the text
};
/// Returns the members of an object; nullopt if the text is not an object. The text must be valid
/// JSON.
std::optional<std::vector<Member>> members(std::string_view text);

/// The same for any text, without a check. Returns nullopt unless the text is an object of the
/// simplest kind: no nested values, no escapes, no fractions, ASCII only. Such a text may still be
/// valid JSON.
std::optional<std::vector<Member>> plain_members(std::string_view text);

/// Returns the last member with that name, as JSON parsers do; nullptr if there is none.
const Member* find(const std::vector<Member>& members, std::string_view key);

/// Returns the same JSON on one line in ASCII, safe for a terminal: without whitespace between
/// values, with other characters as \uXXXX. The text must be valid JSON.
std::string one_line(std::string_view json);

/// Return the value if it is a string or a number respectively. The value must be valid JSON.
std::optional<std::string> as_string(std::string_view value);
std::optional<double> as_number(std::string_view value);

}  // namespace w8y::json_text

// JSON from strangers, read without building it: checked as a whole, then taken apart as text, so
// that what is handed on is what was written, to the last digit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::json_text {

/// Deeper nesting than this is no message of ours.
constexpr std::size_t max_depth = 128;

/// nullopt: valid JSON in valid UTF-8. Else what is wrong with it ("bad JSON at byte 12").
std::optional<std::string> error(std::string_view text);

/// Counts of a JSON text, taken without building it. Built, an empty array takes 50 times as much
/// memory as its text.
struct Shape {
  std::size_t depth = 0;    ///< of arrays and objects in each other
  std::size_t values = 0;   ///< at most so many, names of members not counted
  std::size_t members = 0;  ///< of the outermost array or object
};
Shape shape(std::string_view text);

struct Member {
  std::string key;         ///< decoded
  std::string_view whole;  ///< `"key": value` as it stands in the text
  std::string_view value;  ///< as it stands in the text
};
/// The members of an object; nullopt if it is anything else. The text must be valid JSON.
std::optional<std::vector<Member>> members(std::string_view text);

/// The same of any text, without its check: nullopt also for what is no object of the plainest kind
/// (no values within values, no escapes, no fractions, ASCII), and may yet be valid JSON.
std::optional<std::vector<Member>> plain_members(std::string_view text);

/// The last member of that name, as JSON parsers have it; nullptr if there is none.
const Member* find(const std::vector<Member>& members, std::string_view key);

/// The same valid JSON on one line in ASCII, fit for a terminal: without space between values,
/// other characters as \uXXXX.
std::string one_line(std::string_view json);

/// The value if it is a string, a number. For valid JSON.
std::optional<std::string> as_string(std::string_view value);
std::optional<double> as_number(std::string_view value);

}  // namespace w8y::json_text

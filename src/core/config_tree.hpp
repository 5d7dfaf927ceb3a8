// A TOML file or a JSON text as a tree of nodes with their locations. Separate from toml++, whose
// large header is included by one file only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace w8y::core {

/// Location in a file. Both numbers count from 1; line 0 = the whole file.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;

  /// Advances past one byte. Columns count UTF-8 characters, as in toml++.
  void pass(char byte);
};

/// Returns the line and column of the byte of `text` at index `byte`.
Place place_of_byte(std::string_view text, std::size_t byte);

struct Node {
  enum class Kind { text, integer, real, flag, date, array, table };

  Kind kind = Kind::table;
  Place place;      ///< of the value
  std::string key;  ///< of a member of a table
  Place key_place;

  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  bool flag = false;
  std::vector<Node> items;  ///< of an array, or members of a table by key

  [[nodiscard]] const Node* find(std::string_view member) const;
};

struct SyntaxError {
  Place place;
  std::string text;
};

/// Parses a TOML text. Never throws, regardless of the text.
std::variant<Node, SyntaxError> parse_toml(std::string_view text);
/// Parses a JSON text into the same tree.
std::variant<Node, SyntaxError> parse_json(std::string_view text);

}  // namespace w8y::core

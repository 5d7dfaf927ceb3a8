// A TOML file, or a JSON text, as a tree of nodes with their places. Who reads keys needs only
// this: the header of toml++ is large, and compiled in one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace w8y::core {

/// Both count from 1; line 0 is the file as a whole.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;

  /// Moves past one byte. Columns are UTF-8 characters, as toml++ counts them.
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

/// Never throws for what is in the text.
std::variant<Node, SyntaxError> parse_toml(std::string_view text);
/// The same tree of a JSON text.
std::variant<Node, SyntaxError> parse_json(std::string_view text);

}  // namespace w8y::core

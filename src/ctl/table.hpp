// Aligned text for people, with colours where a terminal shows them. On a terminal it is cut or
// wrapped so that it fits, unless all is wanted; elsewhere nothing is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::ctl {

enum class Colour { none, good, busy, poor, bad };

struct Cell {
  std::string text;  ///< fit for a terminal: escaped
  Colour colour = Colour::none;

  Cell(std::string words,
       Colour shade = Colour::none)  // NOLINT: a cell is a text, most of the time
      : text(std::move(words)), colour(shade) {}
  Cell(const char* words) : text(words) {}  // NOLINT
};

/// Standard output is a terminal.
bool is_terminal();
/// A terminal, and nobody has set NO_COLOR.
bool colours_wanted();
/// A control character that is left in the text is escaped.
std::string coloured(const Cell& cell);
/// Columns of the terminal; 0: standard output is none.
std::size_t terminal_width();

struct Heading {
  std::string name;
  bool soft = false;  ///< its cells may be cut

  Heading(const char* words, bool may_be_cut = false)  // NOLINT: a name, most of the time
      : name(words), soft(may_be_cut) {}
};
inline constexpr bool may_be_cut = true;

/// A row for each thing; columns as wide as their widest cell, up to a bound.
class Table {
 public:
  explicit Table(std::vector<Heading> headings) : headings_(std::move(headings)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// On standard output.
  void print(bool wide) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t available) const;

  std::vector<Heading> headings_;
  std::vector<std::vector<Cell>> rows_;
};

/// Names and their values; long values go on in lines below.
class KeyValueTable {
 public:
  void add(std::string name, Cell value) { rows_.emplace_back(std::move(name), std::move(value)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void print(bool wide) const;

 private:
  std::vector<std::pair<std::string, Cell>> rows_;
};

}  // namespace w8y::ctl

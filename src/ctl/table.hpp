// Aligned text, with colours if the terminal shows them. On a terminal it is truncated or wrapped
// to fit, unless `wide`; other output is complete.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace w8y::ctl {

enum class Colour { none, good, busy, poor, bad };

struct Cell {
  std::string text;  ///< escaped for a terminal
  Colour colour = Colour::none;

  Cell(std::string words,
       Colour shade = Colour::none)  // NOLINT: a cell is a text, most of the time
      : text(std::move(words)), colour(shade) {}
  Cell(const char* words) : text(words) {}  // NOLINT
};

/// Returns whether standard output is a terminal.
bool is_terminal();
/// Returns whether standard output is a terminal and NO_COLOR is not set.
bool colours_wanted();
/// Returns the text with its colour. A control character that is still in the text is escaped.
std::string coloured(const Cell& cell);
/// Returns the columns of the terminal; 0: standard output is not a terminal.
std::size_t terminal_width();

struct Heading {
  std::string name;
  bool soft = false;  ///< its cells may be truncated

  Heading(const char* words, bool may_be_cut = false)  // NOLINT: a name, most of the time
      : name(words), soft(may_be_cut) {}
};
inline constexpr bool may_be_cut = true;

/// Table with a heading. Columns are as wide as their widest cell, up to a limit.
class Table {
 public:
  explicit Table(std::vector<Heading> headings) : headings_(std::move(headings)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Prints on standard output.
  void print(bool wide) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t available) const;

  std::vector<Heading> headings_;
  std::vector<std::vector<Cell>> rows_;
};

/// Names and their values. Long values continue on the lines below.
class KeyValueTable {
 public:
  void add(std::string name, Cell value) { rows_.emplace_back(std::move(name), std::move(value)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void print(bool wide) const;

 private:
  std::vector<std::pair<std::string, Cell>> rows_;
};

}  // namespace w8y::ctl

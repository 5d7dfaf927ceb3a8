// Aligned text for people, with colours where a terminal shows them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::app::ctl {

enum class Colour { none, good, busy, poor, bad };

struct Cell {
  std::string text;  ///< fit for a terminal: escaped
  Colour colour = Colour::none;

  Cell(std::string words,
       Colour shade = Colour::none)  // NOLINT: a cell is a text, most of the time
      : text(std::move(words)), colour(shade) {}
  Cell(const char* words) : text(words) {}  // NOLINT
};

/// A terminal, and nobody has set NO_COLOR.
bool colours_wanted();
std::string coloured(const Cell& cell);

/// Columns as wide as their widest cell, up to a bound; the last one as it comes.
class Table {
 public:
  /// Without a header: for names and their values.
  Table() = default;
  explicit Table(std::vector<std::string> header);
  void add(std::vector<Cell> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// On standard output.
  void print() const;

 private:
  void measure(const std::vector<Cell>& row);
  void print_row(const std::vector<Cell>& row, bool bold) const;

  std::vector<Cell> header_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::size_t> widths_;
};

}  // namespace w8y::app::ctl

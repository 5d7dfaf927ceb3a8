#include "ctl/table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

#include "core/escape.hpp"
#include "ctl/columns.hpp"

namespace w8y::ctl {

namespace {

/// Maximum column width, except on a terminal. A wider cell shifts only its own row.
constexpr std::size_t widest = 48;
/// Width of a terminal that does not report it.
constexpr std::size_t usual_width = 80;
/// Minimum width of a truncated column.
constexpr std::size_t min_width = 6;

const char* code_of(Colour colour) {
  constexpr std::array codes = {"", "\033[32m", "\033[36m", "\033[33m", "\033[31m"};
  return codes.at(static_cast<std::size_t>(colour));
}

/// `available` 0: no truncation.
void print_row(const std::vector<Cell>& row, const std::vector<std::size_t>& widths, bool bold,
               std::size_t available) {
  std::size_t used = row.size();
  while (used > 0 && row[used - 1].text.empty()) --used;
  std::string line;
  for (std::size_t i = 0; i < used; ++i) {
    Cell cell = row[i];
    if (available > 0) cell.text = cut_to(cell.text, widths[i]);
    line += coloured(cell);
    if (i + 1 == used) break;
    const std::size_t width = width_of(cell.text);
    line.append(width < widths[i] ? widths[i] - width + gap : gap, ' ');
  }
  if (bold) line = "\033[1m" + line + "\033[0m";
  std::cout << line << '\n';
}

}  // namespace

bool is_terminal() {
  static const bool is = isatty(STDOUT_FILENO) != 0;
  return is;
}

bool colours_wanted() {
  static const bool wanted = [] {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return is_terminal() && (no_colour == nullptr || *no_colour == '\0') &&
           (terminal == nullptr || std::string_view(terminal) != "dumb");
  }();
  return wanted;
}

std::string coloured(const Cell& cell) {
  std::string text = escape_line(cell.text);
  if (cell.colour == Colour::none || text.empty() || !colours_wanted()) return text;
  return code_of(cell.colour) + text + "\033[0m";
}

std::size_t terminal_width() {
  static const std::size_t width = [] {
    if (!is_terminal()) return std::size_t{0};
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
      return std::size_t{size.ws_col};
    return usual_width;
  }();
  return width;
}

// ---- tables with a heading

std::vector<std::size_t> Table::widths(std::size_t available) const {
  std::vector<Column> columns;
  for (const auto& heading : headings_) {
    const std::size_t width = width_of(heading.name);
    columns.push_back({width, std::min(width, min_width), heading.soft});
  }
  const std::size_t most = available > 0 ? available : widest;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      columns[i].wanted = std::max(columns[i].wanted, std::min(width_of(row[i].text), most));
  for (auto& column : columns) column.least = std::min(column.wanted, min_width);
  if (available > 0) return fit(columns, available);
  std::vector<std::size_t> widths;
  for (const auto& column : columns) widths.push_back(column.wanted);
  return widths;
}

void Table::print(bool wide) const {
  const std::size_t available = wide ? 0 : terminal_width();
  const std::vector<std::size_t> widths = this->widths(available);
  std::vector<Cell> header;
  for (const auto& heading : headings_) header.emplace_back(heading.name);
  print_row(header, widths, colours_wanted(), available);
  for (const auto& row : rows_) print_row(row, widths, false, available);
}

// ---- names and values

void KeyValueTable::print(bool wide) const {
  std::size_t names = 0;
  for (const auto& [name, value] : rows_) names = std::max(names, width_of(name));
  const std::size_t indent = names + gap;
  const std::size_t terminal = wide ? 0 : terminal_width();
  for (const auto& [name, value] : rows_) {
    std::string start = name + std::string(indent - width_of(name), ' ');
    if (terminal <= indent + min_width) {
      std::cout << start << coloured(value) << '\n';
      continue;
    }
    for (auto& line : wrap(value.text, terminal - indent)) {
      std::cout << start << coloured({std::move(line), value.colour}) << '\n';
      start.assign(indent, ' ');
    }
  }
}

}  // namespace w8y::ctl

#include "app/ctl/table.hpp"

#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace w8y::app::ctl {

namespace {

/// A cell that is wider pushes its row aside, instead of every row.
constexpr std::size_t widest = 48;

/// Columns on a terminal; main() has set a locale with UTF-8, if there is one.
std::size_t width_of(const std::string& text) {
  std::mbstate_t state{};
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    wchar_t character = 0;
    const std::size_t length = mbrtowc(&character, text.data() + at, text.size() - at, &state);
    if (length == 0 || length > text.size()) return width + (text.size() - at);
    const int columns = wcwidth(character);
    width += columns > 0 ? static_cast<std::size_t>(columns) : 0;
    at += length;
  }
  return width;
}

const char* code_of(Colour colour) {
  switch (colour) {
    case Colour::none:
      break;
    case Colour::good:
      return "\033[32m";
    case Colour::busy:
      return "\033[36m";
    case Colour::poor:
      return "\033[33m";
    case Colour::bad:
      return "\033[31m";
  }
  return "";
}

}  // namespace

bool colours_wanted() {
  static const bool wanted = [] {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
           (terminal == nullptr || std::string_view(terminal) != "dumb");
  }();
  return wanted;
}

std::string coloured(const Cell& cell) {
  if (cell.colour == Colour::none || cell.text.empty() || !colours_wanted()) return cell.text;
  return code_of(cell.colour) + cell.text + "\033[0m";
}

Table::Table(std::vector<std::string> header) {
  for (auto& name : header) header_.emplace_back(std::move(name));
  measure(header_);
}

void Table::add(std::vector<Cell> row) {
  measure(row);
  rows_.push_back(std::move(row));
}

void Table::measure(const std::vector<Cell>& row) {
  if (widths_.size() < row.size()) widths_.resize(row.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    widths_[i] = std::max(widths_[i], std::min(width_of(row[i].text), widest));
}

void Table::print() const {
  if (!header_.empty()) print_row(header_, colours_wanted());
  for (const auto& row : rows_) print_row(row, false);
}

void Table::print_row(const std::vector<Cell>& row, bool bold) const {
  std::size_t used = row.size();
  while (used > 0 && row[used - 1].text.empty()) --used;
  std::string line;
  for (std::size_t i = 0; i < used; ++i) {
    line += coloured(row[i]);
    if (i + 1 == used) break;
    const std::size_t width = width_of(row[i].text);
    line.append(width < widths_[i] ? widths_[i] - width + 2 : 2, ' ');
  }
  if (bold) line = "\033[1m" + line + "\033[0m";
  std::cout << line << '\n';
}

}  // namespace w8y::app::ctl

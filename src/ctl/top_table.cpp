#include "ctl/top_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ctl/columns.hpp"

namespace w8y::ctl {

namespace {

/// Width to which a soft column may be truncated.
constexpr std::size_t soft_width = 10;

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t own = width_of(text);
  const std::string space(own < width ? width - own : 0, ' ');
  return right ? space + text : text + space;
}

std::vector<Column> widths_wanted(const std::vector<TopColumn>& columns,
                                  const std::vector<std::vector<Cell>>& rows) {
  std::vector<Column> wanted;
  for (const TopColumn& column : columns) {
    const std::size_t name = width_of(column.name);
    wanted.push_back({name, std::min(name, soft_width), column.soft});
  }
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      wanted[i].wanted = std::max(wanted[i].wanted, width_of(row[i].text));
  return wanted;
}

/// Returns which columns fit.
std::vector<bool> columns_kept(const std::vector<TopColumn>& columns,
                               const std::vector<Column>& wanted, std::size_t width) {
  std::vector<bool> kept(columns.size(), true);
  for (;;) {
    std::size_t needed = 0;
    std::size_t last = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!kept[i]) continue;
      needed += gap + (wanted[i].soft ? std::min(wanted[i].wanted, soft_width) : wanted[i].wanted);
      if (columns[i].spare > 0 &&
          (last == columns.size() || columns[i].spare > columns[last].spare))
        last = i;
    }
    if (needed <= width + gap || last == columns.size()) return kept;
    kept[last] = false;
  }
}

}  // namespace

void add_table(std::vector<TopLine>& to, const std::vector<TopColumn>& columns,
               const std::vector<std::vector<Cell>>& rows, std::size_t width) {
  const std::vector<Column> wanted = widths_wanted(columns, rows);
  const std::vector<bool> kept = columns_kept(columns, wanted, width);
  std::vector<Column> left;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (kept[i]) left.push_back(wanted[i]);
  const std::vector<std::size_t> widths = fit(left, width);
  const auto line = [&](const std::vector<Cell>& cells, TopLine::Style style) {
    TopLine made;
    made.style = style;
    std::size_t at = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!kept[i]) continue;
      if (at > 0) made.cells.emplace_back(std::string(gap, ' '));
      made.cells.emplace_back(
          padded(cut_to(cells[i].text, widths[at]), widths[at], columns[i].right), cells[i].colour);
      ++at;
    }
    to.push_back(std::move(made));
  };
  std::vector<Cell> names;
  for (const TopColumn& column : columns) names.emplace_back(column.name);
  line(names, TopLine::Style::heading);
  for (const auto& row : rows) line(row, TopLine::Style::plain);
}

}  // namespace w8y::ctl

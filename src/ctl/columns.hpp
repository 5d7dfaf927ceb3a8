// Widths of the columns of a table, and truncation of text to them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace w8y::ctl {

/// Blanks between two columns.
inline constexpr std::size_t gap = 2;

/// Returns the columns that a text takes on a terminal. main() has set a UTF-8 locale, if the host
/// has one.
std::size_t width_of(const std::string& text);
/// Returns as much of a text as fits, and "…" if it is truncated.
std::string cut_to(const std::string& text, std::size_t width);
/// Breaks a text into lines of at most `width` columns, at blanks if possible.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

struct Column {
  std::size_t wanted = 0;  ///< width of its widest cell
  std::size_t least = 1;   ///< narrower, it is of no use
  bool soft = false;       ///< is truncated before the other columns
};
/// Returns widths for which all columns and the gaps between them fit into `available`, if that is
/// possible. The widest columns shrink first, and those that are not soft only after all soft ones.
std::vector<std::size_t> fit(const std::vector<Column>& columns, std::size_t available);

}  // namespace w8y::ctl

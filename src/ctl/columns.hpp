// How wide the columns of a table are, and what is cut so that they fit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace w8y::ctl {

/// Between two columns.
inline constexpr std::size_t gap = 2;

/// On a terminal; main() has set a locale with UTF-8, if there is one.
std::size_t width_of(const std::string& text);
/// As much of it as fits, and "…" where something was cut.
std::string cut_to(const std::string& text, std::size_t width);
/// In lines of at most `width`, parted at blanks where there are some.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

struct Column {
  std::size_t wanted = 0;  ///< its widest cell
  std::size_t least = 1;   ///< narrower, it tells nothing
  bool soft = false;       ///< is cut before others are
};
/// Widths for which all columns and the gaps between them take at most `available`, if that is
/// possible: the widest give first, and those that are not soft only when no other is left.
std::vector<std::size_t> fit(const std::vector<Column>& columns, std::size_t available);

}  // namespace w8y::ctl

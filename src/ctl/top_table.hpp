// Table on the screen of `w8yctl top`.
#pragma once

#include <cstddef>
#include <vector>

#include "ctl/table.hpp"
#include "ctl/top_view.hpp"

namespace w8y::ctl {

struct TopColumn {
  const char* name;
  bool soft = false;
  bool right = false;  ///< numbers are right-aligned
  int spare = 0;       ///< if not all columns fit, the greatest is omitted first; 0: never
};

/// Adds rows below their headings, in columns that fit; omits columns that do not fit.
void add_table(std::vector<TopLine>& to, const std::vector<TopColumn>& columns,
               const std::vector<std::vector<Cell>>& rows, std::size_t width);

}  // namespace w8y::ctl

// A table on the screen of `w8yctl top`.
#pragma once

#include <cstddef>
#include <vector>

#include "ctl/table.hpp"
#include "ctl/top_view.hpp"

namespace w8y::ctl {

struct TopColumn {
  const char* name;
  bool soft = false;
  bool right = false;  ///< numbers stand at its right side
  int spare = 0;       ///< where there is no room for all, the greatest goes first; 0: it stays
};

/// Rows below their headings, in columns that fit; those that there is no room for are left out.
void add_table(std::vector<TopLine>& to, const std::vector<TopColumn>& columns,
               const std::vector<std::vector<Cell>>& rows, std::size_t width);

}  // namespace w8y::ctl

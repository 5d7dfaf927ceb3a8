// Items of lists of any kind of work, as the status API shows them.
#pragma once

#include <string>

#include "app/look/run_looks.hpp"
#include "app/look/sight.hpp"
#include "core/item.hpp"

namespace w8y::app::look {

struct ItemFilter {
  std::string state;   ///< empty: any
  std::string search;  ///< bytes that it has; empty: any

  [[nodiscard]] bool fits(std::string_view item) const {
    return item.find(search) != std::string_view::npos;
  }
};

/// {"list", "length", "items": […], "next"} of a list that this name has. Looks at some thousand
/// items at most: fewer than the limit may be found, and more behind `next`.
ops::Json items_json(Sight& sight, const std::string& list, const ItemFilter& filter,
                     const Part& part);

/// One item, with its last runs; of a list that this name has. Throws Refusal.
ops::Json item_json(Sight& sight, const std::string& list, const Item& item);

}  // namespace w8y::app::look

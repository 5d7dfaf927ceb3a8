// Runs of one list that failed with the same error.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "core/clock.hpp"
#include "core/item.hpp"

namespace w8y::view {

struct ErrorGroup {
  static constexpr std::size_t max_item = 512;

  std::string id;  ///< 8 hexadecimal digits, the same on every host
  std::string list;
  std::string message;  ///< core::error_pattern()
  std::size_t runs = 0;
  std::size_t items = 0;
  bool more_items = false;  ///< there are at least `items` items
  WallTime first{0};        ///< when the first of these runs was recorded, by the clock of Redis
  WallTime last{0};
  std::string last_run;         ///< its ID
  DisplayItem item;             ///< item with the most runs in the group; at most max_item bytes
  std::size_t item_runs = 0;    ///< number of its runs in the group
  std::set<std::string> hosts;  ///< names, not all if `more_hosts`
  bool more_hosts = false;
};

/// Returns an object of GET /api/v1/errors.
std::string to_json(const ErrorGroup& group);

}  // namespace w8y::view

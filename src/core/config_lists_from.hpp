// [[lists_from]]: programs that print lists.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/config_keys.hpp"

namespace w8y::core {

struct ListsFrom {
  std::vector<std::string> command;
  Duration timeout = std::chrono::seconds(10);
};
extern const std::span<const Key<ListsFrom>> lists_from_keys;

}  // namespace w8y::core

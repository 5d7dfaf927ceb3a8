// The settings that only circular lists have: see w8y.toml(5).
#pragma once

#include <string>

#include "core/clock.hpp"

namespace w8y {

/// What only a circular list has.
struct CircularSettings {
  std::string lock_key = "lock";  ///< "lock" or "proc"
  Duration cooldown{0};
  /// How long an item may wait for its turn before the list counts as too slow; 0: not watched.
  Duration overdue_after{0};
  bool operator==(const CircularSettings&) const = default;
};

}  // namespace w8y

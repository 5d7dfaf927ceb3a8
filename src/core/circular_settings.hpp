// The settings that only circular lists have; see w8y.toml(5).
#pragma once

#include <string>

#include "core/clock.hpp"

namespace w8y {

/// Settings of a circular list only.
struct CircularSettings {
  std::string lock_key = "lock";  ///< "lock" or "proc"
  Duration cooldown{0};
  /// Longest wait of a free item before the list counts as overdue; 0 = not monitored.
  Duration overdue_after{0};
  bool operator==(const CircularSettings&) const = default;
};

}  // namespace w8y

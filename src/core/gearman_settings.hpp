// The settings that only lists of Gearman have; see w8y.toml(5).
#pragma once

#include <string>

namespace w8y {

/// Settings of a list of Gearman only.
struct GearmanSettings {
  std::string function;  ///< never empty in a list; default: the prefix
  bool operator==(const GearmanSettings&) const = default;
};

}  // namespace w8y

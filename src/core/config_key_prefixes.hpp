// Checks the key prefixes of the lists of a config, and sets SharedKeyPrefix of lists with the same
// key prefix.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config_value.hpp"

namespace w8y::core {

/// Lists of a config by key prefix. Only schedules without a common queue may share one.
class KeyPrefixes {
 public:
  /// Checks a list against the lists before it, and adds it.
  void add(const ConfigValue& list, const ListConfigPtr& rule);
  /// Sets SharedKeyPrefix of the lists that share a key prefix. Must be called after the settings
  /// of this host are applied, since a disabled list does not dispatch.
  void share(Config& config) const;

  /// Returns the lists that were added, by key prefix. No vector is empty.
  [[nodiscard]] const std::map<std::string, std::vector<ListConfigPtr>>& lists() const {
    return lists_;
  }

 private:
  std::map<std::string, std::vector<ListConfigPtr>> lists_;  ///< in the order of the files
};

}  // namespace w8y::core

// Checks of the config that depend on the kind of work: one row per kind. Checks of lists with the
// same key prefix.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_value.hpp"

namespace w8y::core {

/// Checks of the keys of one list. nullptr: the kind has none.
struct KindChecks {
  /// Checks dependencies between the keys, and completes the settings.
  void (*check)(const ConfigValue& list, ListConfig& rule);
  /// Returns the end of an error: why a list of this kind does not have `key`, such as "; Gearman
  /// has no locks …". May be empty.
  std::string (*why_not)(std::string_view key);
};
const KindChecks& checks_of(const KindTraits& kind);

/// Lists of a config by key prefix. Only schedules without a common queue may share a key prefix.
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

// Plan of a reload: a comparison of two configs without side effects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/list_config.hpp"

namespace w8y {

struct SettingChange {
  std::string key;
  std::string before;
  std::string after;
  bool secret = false;  ///< it has changed; neither value is shown
};

struct ListChange {
  enum class Kind { added, removed, changed };
  Kind kind = Kind::changed;
  std::string prefix;
  std::vector<SettingChange> settings;  ///< for `changed`
};

struct ReloadPlan {
  std::vector<SettingChange> redis;
  std::vector<SettingChange> gearman;
  std::vector<SettingChange> supervisor;
  std::vector<ListChange> lists;  ///< by prefix

  [[nodiscard]] bool empty() const;
  /// Returns one line per change, for people: `lists.work: concurrency: 4 -> 8`.
  [[nodiscard]] std::vector<std::string> lines() const;
};

/// Compares two configs, including their secrets. Only differing settings are converted to text,
/// because most lists do not change. A list that differs only in settings derived from other
/// lists has no change.
ReloadPlan plan_reload(const Config& before, const Config& after);
/// Returns the names of the lists that are in both configs and differ, also if they differ only in
/// settings derived from other lists, such as SharedKeyPrefix.
std::vector<std::string> differing_lists(const Config& before, const Config& after);

/// Question to another process whether it has the same secret. That process shows its settings but
/// not its secrets.
struct SecretQuestion {
  std::optional<std::string> list;  ///< prefix; nullopt = `[redis]`
  std::string key;                  ///< as in Secrets
  std::string digest;
};
enum class SecretAnswer { same, changed, none };
ReloadPlan plan_reload(const ConfigText& before, const ConfigText& after);
/// Returns a question for each secret of `after` whose section also exists in `before`.
std::vector<SecretQuestion> secrets_to_compare(const ConfigText& before, const Config& after,
                                               std::string_view salt);
SecretAnswer compare_secret(const Config& config, const SecretQuestion& question,
                            std::string_view salt);
void add_changed_secret(ReloadPlan& plan, const SecretQuestion& question);

/// Replaces each list config of `after` by an equal one of `before`. Users of the old object keep
/// it, and the memory of the new object is freed. The URL of Redis is replaced in the same way, so
/// that its password has one copy.
void keep_unchanged(const Config& before, Config& after);

}  // namespace w8y

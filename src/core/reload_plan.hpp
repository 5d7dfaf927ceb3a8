// What a reload would change: a pure comparison of two configurations.
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
  bool secret = false;  ///< it has changed, and neither side is shown
};

struct ListChange {
  enum class Kind { added, removed, changed };
  Kind kind = Kind::changed;
  std::string prefix;
  std::vector<SettingChange> settings;  ///< kind changed
};

struct ReloadPlan {
  std::vector<SettingChange> redis;
  std::vector<SettingChange> gearman;
  std::vector<SettingChange> supervisor;
  std::vector<ListChange> lists;  ///< by prefix

  [[nodiscard]] bool empty() const;
  /// A line per change, for people: `lists.work: concurrency: 4 -> 8`.
  [[nodiscard]] std::vector<std::string> lines() const;
};

/// Secrets included. Only what differs becomes text: most lists stay as they are.
ReloadPlan plan_reload(const Config& before, const Config& after);

/// A question to another process, which shows its settings but not its secrets: whether it has the
/// same secret.
struct SecretQuestion {
  std::optional<std::string> list;  ///< prefix; nullopt: of `[redis]`
  std::string key;                  ///< as in Secrets
  std::string digest;
};
enum class SecretAnswer { same, changed, none };
ReloadPlan plan_reload(const ConfigText& before, const ConfigText& after);
/// Of all secrets of `after` whose section is in `before` too.
std::vector<SecretQuestion> secrets_to_compare(const ConfigText& before, const Config& after,
                                               std::string_view salt);
SecretAnswer compare_secret(const Config& config, const SecretQuestion& question,
                            std::string_view salt);
void add_changed_secret(ReloadPlan& plan, const SecretQuestion& question);

/// Replaces each rule of `after` that equals the one of `before` by that one: who uses it keeps it,
/// and the memory of the new one is free again. The same goes for the URL of Redis, so that its
/// password has one copy.
void keep_unchanged(const Config& before, Config& after);

}  // namespace w8y

// What a reload would change: a pure comparison of two configurations.
#pragma once

#include <string>
#include <vector>

#include <w8y/rule.hpp>

namespace w8y {

struct SettingChange {
  std::string key;
  std::string before;
  std::string after;
};

struct ListChange {
  enum class Kind { added, removed, changed };
  Kind kind = Kind::changed;
  std::string prefix;
  std::vector<SettingChange> settings;  ///< kind changed
};

struct ReloadPlan {
  std::vector<SettingChange> redis;
  std::vector<SettingChange> supervisor;
  std::vector<ListChange> lists;  ///< by prefix

  [[nodiscard]] bool empty() const;
  /// A line per change, for people: `lists.work: concurrency: 4 -> 8`.
  [[nodiscard]] std::vector<std::string> lines() const;
};

ReloadPlan plan_reload(const ConfigText& before, const ConfigText& after);
/// The same, and only what differs becomes text: most lists stay as they are.
ReloadPlan plan_reload(const Config& before, const Config& after);
/// A rule of `after` that is as it was becomes the one of `before`: what uses that keeps it, and
/// the memory of the other is free again.
void keep_unchanged(const Config& before, Config& after);

}  // namespace w8y

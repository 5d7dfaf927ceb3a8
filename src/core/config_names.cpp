// Names of keys: all known keys, and suggestions for unknown ones.
#include "core/config.hpp"
#include "core/config_gearman.hpp"
#include "core/config_hosts.hpp"
#include "core/config_lists_from.hpp"
#include "core/text.hpp"

namespace w8y {

namespace {

template <class T>
void add(std::vector<KnownKey>& all, const char* section, std::span<const core::Key<T>> keys) {
  for (const core::Key<T>& key : keys) all.push_back({section, key.name, key.fallback});
}

/// Old and new names of keys that were renamed before 0.1.0.
constexpr std::pair<std::string_view, std::string_view> renamed_keys[] = {
    {"max_processes", "host_concurrency"},
    {"visit_within", "overdue_after"},
    {"status_names", "status_allowed_hosts"},
};

std::string section_name(const std::string& section) {
  if (section.empty()) return "the top level";
  return section == "lists" ? "[lists.PREFIX] and [defaults]" : "[" + section + "]";
}

}  // namespace

std::vector<KnownKey> known_keys() {
  std::vector<KnownKey> all = {{"", "include", "[]"}};
  add(all, "lists_from", core::lists_from_keys);
  add(all, "redis", core::redis_keys);
  add(all, "gearman", core::gearman_keys);
  add(all, "supervisor", core::supervisor_keys);
  add(all, "lists", core::list_keys);
  add(all, "lists.backoff", core::backoff_keys);
  for (const core::Limit& limit : core::limits) all.push_back({"lists.rlimits", limit.name, ""});
  for (const std::string_view key : core::host_keys)
    if (key != "lists") all.push_back({"hosts.PATTERN", std::string(key), ""});
  for (const std::string_view key : core::host_list_keys)
    all.push_back({"hosts.PATTERN.lists", std::string(key), ""});
  return all;
}

namespace core {

void unknown_key(const ConfigValue& value, const std::vector<std::string_view>& known,
                 std::span<const Refused> refused) {
  const std::string& name = value.node().key;
  for (const auto& [before, now] : renamed_keys) {
    if (before == name) return value.wrong_key("is now " + quote(now));
  }
  for (const Refused& row : refused) {
    if (row.name == name) return value.wrong_key(row.why);
  }
  for (const KnownKey& key : known_keys()) {
    const bool nested = key.section.find('.') != std::string::npos;
    if (key.name != name || nested) continue;
    return value.wrong_key("is in the wrong table; it is a key of " + section_name(key.section));
  }
  for (const auto& [before, now] : renamed_keys)
    if (nearest(name, known).empty() && !nearest(name, {before}).empty())
      return value.wrong_key("is not a known key; did you mean " + quote(now) + "?");
  value.wrong_key("is not a known key; " + did_you_mean(name, known));
}

}  // namespace core

}  // namespace w8y

// Names of the keys of a list, whose key prefix may differ from its name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schedule_settings.hpp"
#include "operator/query_context.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::verbs {

struct KeyNames {
  KeyNames(std::string name) : list(std::move(name)), prefix(list) {}
  KeyNames(std::string name, std::string key_prefix)
      : list(std::move(name)), prefix(std::move(key_prefix)) {
    if (prefix != list) suffix = ":" + list;
  }
  /// Returns the start of the names of all keys: "bike:".
  [[nodiscard]] std::string start() const { return prefix.empty() ? "" : prefix + ":"; }
  /// Returns the name of a key of this list alone: "bike:runs:mails".
  [[nodiscard]] std::string own(std::string_view name) const {
    return start().append(name).append(suffix);
  }

  std::string list;
  std::string prefix;  ///< without a final ':'
  std::string suffix;  ///< empty if the key prefix is the name
};

/// Returns the names by the config, otherwise by the list reports of the fleet, otherwise with the
/// name as the key prefix.
KeyNames key_names(const QueryContext& query, const std::string& list);
std::vector<KeyNames> key_names(const QueryContext& query, const std::vector<std::string>& lists);

store::ScheduleKeys schedule_keys(const QueryContext& query, const std::string& list);

/// Keys of a schedule, and the queues of other lists with its key prefix. Jobs in these queues do
/// not belong to this list.
struct ScheduleOfList {
  store::ScheduleKeys keys;
  SharedKeyPrefix shared = {};
};
ScheduleOfList schedule_of(const QueryContext& query, const std::string& list);

}  // namespace w8y::verbs

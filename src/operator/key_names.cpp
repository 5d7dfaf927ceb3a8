#include "operator/key_names.hpp"

#include <optional>

#include "operator/fleet.hpp"
#include "operator/key_prefixes.hpp"

namespace w8y::verbs {

namespace {

/// Returns the key prefix that a host of the fleet reports for a list.
std::optional<std::string> key_prefix_in_fleet(const QueryContext& query, const std::string& list) {
  if (query.lists != nullptr && query.lists->has_key_prefix(list)) return std::nullopt;
  try {
    for (const FleetHost& host : hosts_of_list(query, list).hosts)
      for (const ListStatus& report : host.lists)
        if (report.key_prefix) return report.key_prefix;
  } catch (const QueryError&) {
    // The fleet cannot be read, for example without permission.
  } catch (const redis::RedisError& error) {
    if (error.code() == redis::ErrorCode::none) throw;
  }
  return std::nullopt;
}

store::ScheduleKeys keys_of(const KeyNames& names) {
  return store::ScheduleKeys(names.prefix, names.suffix.empty() ? "" : names.list);
}

}  // namespace

KeyNames key_names(const QueryContext& query, const std::string& list) {
  if (const auto known = query.lists == nullptr ? std::nullopt : query.lists->find(list))
    return {list, known->key_prefix.value_or(list)};
  return {list, key_prefix_in_fleet(query, list).value_or(list)};
}

std::vector<KeyNames> key_names(const QueryContext& query, const std::vector<std::string>& lists) {
  std::vector<KeyNames> names;
  names.reserve(lists.size());
  for (const std::string& list : lists) names.push_back(key_names(query, list));
  return names;
}

store::ScheduleKeys schedule_keys(const QueryContext& query, const std::string& list) {
  return keys_of(key_names(query, list));
}

ScheduleOfList schedule_of(const QueryContext& query, const std::string& list) {
  const KeyNames names = key_names(query, list);
  ScheduleOfList schedule{keys_of(names)};
  if (const auto known = query.lists == nullptr ? std::nullopt : query.lists->find(list))
    schedule.shared = known->shared;
  else
    schedule.shared = shared_in_fleet(query, list, names.prefix);
  return schedule;
}

}  // namespace w8y::verbs

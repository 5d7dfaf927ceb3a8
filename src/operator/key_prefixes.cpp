#include "operator/key_prefixes.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/escape.hpp"
#include "operator/fleet.hpp"
#include "operator/lists.hpp"
#include "view/list_view.hpp"

namespace w8y::verbs {

namespace {

/// Maximum number of hosts whose list reports are read if no config is known.
constexpr std::size_t max_reporting_hosts = 3;

/// Calls `take` with each report of a list that has this key prefix. Hosts may report equal lists.
void each_reported(const QueryContext& query, const std::string& key_prefix,
                   const std::function<void(const ListStatus&)>& take) {
  FleetView fleet = fleet_hosts(query);
  for (std::size_t i = 0; i < std::min(fleet.hosts.size(), max_reporting_hosts); ++i)
    each_report(query, fleet.hosts[i], [&](const std::string& name, const std::string& text) {
      if (name != key_prefix && text.find("\"key_prefix") == std::string::npos) return true;
      const auto list = view::read_report(name, text);
      if (list && !list->queues.empty() && list->key_prefix.value_or(name) == key_prefix)
        take(*list);
      return true;
    });
}

[[noreturn]] void refuse(const std::string& name, const std::vector<std::string>& lists) {
  std::string names;
  for (const std::string& list : lists)
    names.append(names.empty() ? "" : ", ").append(escape_text(list));
  throw QueryError(404, "there is no list " + escape_text(name) + ": it is the key prefix of " +
                            names + "; use the name of " +
                            (lists.size() == 1 ? "this list" : "one of these lists"));
}

/// Returns the error because of which the lists of a host cannot be read; empty: none.
std::string error_of(const FleetView& fleet) {
  for (const FleetHost& host : fleet.hosts)
    if (!host.lists_error.empty()) return host.lists_error;
  return fleet.error;
}

/// Searches for the list `name` in the list reports. Returns nullopt if a host has the list, an
/// empty text if no host has it, or the error because of which the reports are not complete.
std::optional<std::string> unknown_in_fleet(const QueryContext& query, const std::string& name) {
  try {
    const FleetView fleet = hosts_of_list(query, name);
    for (const FleetHost& host : fleet.hosts)
      if (!host.lists.empty()) return std::nullopt;
    const std::vector<std::string> lists = lists_with_key_prefix(query, name);
    if (!lists.empty()) refuse(name, lists);
    return error_of(fleet);
  } catch (const QueryError& error) {
    if (error.status() == 503 || error.status() == 404) throw;
    return error.what();
  } catch (const redis::RedisError& error) {
    if (error.code() == redis::ErrorCode::none) throw;
    return error.what();
  }
}

}  // namespace

std::vector<std::string> lists_with_key_prefix(const QueryContext& query,
                                               const std::string& key_prefix) {
  if (query.lists != nullptr) {
    std::vector<std::string> known = query.lists->with_key_prefix(key_prefix);
    if (!known.empty()) return known;
  }
  std::set<std::string> names;
  each_reported(query, key_prefix, [&](const ListStatus& list) { names.insert(list.prefix); });
  return {names.begin(), names.end()};
}

SharedKeyPrefix shared_in_fleet(const QueryContext& query, const std::string& list,
                                const std::string& key_prefix) {
  SharedKeyPrefix shared;
  bool is_list = false;
  try {
    each_reported(query, key_prefix, [&](const ListStatus& other) {
      is_list = is_list || other.prefix == list;
      if (other.prefix == list) return;
      for (const std::string& code : other.queues)
        if (shared.find(code) == nullptr)
          shared.others.push_back({.code = code, .list = other.prefix});
    });
  } catch (const QueryError&) {
    // The fleet cannot be read, for example without permission.
  } catch (const redis::RedisError& error) {
    if (error.code() == redis::ErrorCode::none) throw;
  }
  // The jobs of a name that is only a key prefix are those of all its lists.
  return is_list ? shared : SharedKeyPrefix{};
}

void refuse_key_prefix(const QueryContext& query, const std::string& name) {
  if (query.lists == nullptr || query.lists->contains(name)) return;
  const std::vector<std::string> lists = query.lists->with_key_prefix(name);
  if (!lists.empty() && !is_in_fleet(query, name)) refuse(name, lists);
}

void check_key_prefix(const QueryContext& query, const std::string& name) {
  if (query.lists != nullptr && query.lists->contains(name)) return;
  const auto error = unknown_in_fleet(query, name);
  if (!error || error->empty() || has_keys(query, name)) return;
  throw QueryError(409, "the key prefix of the list " + escape_text(name) +
                            " is not known: no config is used, and the fleet cannot be read (" +
                            *error + "); use --config or --socket");
}

}  // namespace w8y::verbs

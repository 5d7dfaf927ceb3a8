// Runs that failed, grouped by list and by the pattern of their error message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "operator/query_context.hpp"
#include "view/error_group.hpp"
#include "view/run_record.hpp"

namespace w8y::verbs {

struct ErrorFilter {
  std::optional<std::string> list = {};  ///< a name or a pattern; nullopt: all lists
  std::optional<WallTime> since = {};    ///< only runs that were recorded since then
  std::size_t max_groups = 100;          ///< in the result
  std::size_t max_read = 100'000;        ///< run records to read
};

struct ErrorGroups {
  static constexpr std::size_t max_items = 1000;  ///< that are counted in a group
  static constexpr std::size_t max_hosts = 5;     ///< that are named in a group

  std::vector<view::ErrorGroup> groups;  ///< the one with the most runs first
  std::size_t omitted_groups = 0;
  std::size_t omitted_runs = 0;  ///< of groups that are not in the result
  bool complete = true;          ///< whether all records were read
};

/// Groups the records of failed runs. Omits cancelled runs. The number of groups in memory has a
/// limit.
ErrorGroups group_errors(QueryContext& query, const ErrorFilter& filter);

/// Returns a JSON object (w8y-api(7)).
std::string to_json(const ErrorGroups& errors);

/// Returns the ID of the group of a failed run.
std::string group_of(const view::RunRecord& run);

/// Items of the runs of one group.
struct ErrorItems {
  std::vector<Item> items;
  std::size_t too_long = 0;  ///< items that the records have only in part
  bool complete = true;      ///< false: the group has more items
};
/// Items of a group that are returned.
inline constexpr std::size_t max_found_items = 100'000;
/// Returns the items of one group of a list, at most max_found_items. Throws QueryError, 404, if
/// the list has no such group.
ErrorItems items_of_group(QueryContext& query, const std::string& list, const std::string& id,
                          const std::optional<WallTime>& since);

}  // namespace w8y::verbs

#include "operator/error_changes.hpp"

#include <algorithm>

#include "core/escape.hpp"
#include "operator/error_groups.hpp"
#include "operator/job_feeds.hpp"
#include "operator/lists.hpp"

namespace w8y::verbs {

namespace {

std::vector<ChangedItem> retry_jobs(QueryContext& query, const std::string& list,
                                    const std::vector<Item>& items) {
  const auto retried =
      JobFeed({query.redis, query.cluster()}, list).change(JobChange::retry, items);
  std::vector<ChangedItem> changed;
  for (std::size_t i = 0; i < items.size(); ++i)
    changed.push_back({DisplayItem(items[i]), retried[i].done ? "queued again" : "is not stalled",
                       retried[i].done});
  return changed;
}

}  // namespace

std::size_t ChangedGroup::changed() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      items, [](const ChangedItem& each) { return each.done && each.result != "was free"; }));
}

ChangedGroup change_group(QueryContext& query, const std::string& list, const std::string& id,
                          const std::optional<WallTime>& since, GroupChange change,
                          const ChangeNote& note) {
  ErrorItems found = items_of_group(query, list, id, since);
  if (change == GroupChange::release)
    return {release_items(query, list, found.items), found.too_long};
  if (change == GroupChange::quarantine)
    return {quarantine_items(query, list, found.items, note), found.too_long};
  if (kind_of(query, list) != SourceKind::job)
    throw QueryError(409, "the list " + escape_text(list) +
                              " has no jobs that can be stalled; release its items instead");
  return {retry_jobs(query, list, found.items), found.too_long};
}

}  // namespace w8y::verbs

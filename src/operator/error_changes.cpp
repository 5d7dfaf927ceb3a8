#include "operator/error_changes.hpp"

#include <algorithm>

#include "core/escape.hpp"
#include "operator/error_groups.hpp"
#include "operator/job_feeds.hpp"
#include "operator/key_names.hpp"
#include "operator/lists.hpp"

namespace w8y::verbs {

namespace {

std::vector<ChangedItem> retry_jobs(QueryContext& query, const std::string& list,
                                    const std::vector<Item>& items) {
  const auto retried =
      JobFeed({query.redis, query.cluster(), query.by}, list).change(JobChange::retry, items);
  std::vector<ChangedItem> changed;
  for (std::size_t i = 0; i < items.size(); ++i)
    changed.push_back({DisplayItem(items[i]), retried[i].done ? "queued again" : "is not stalled",
                       retried[i].done});
  return changed;
}

/// Throws if a list of this kind has no such change. The error names the command that applies.
void check_change(QueryContext& query, const std::string& list, const std::string& id,
                  GroupChange change) {
  const std::string name = escape_text(list);
  const auto refuse = [](const std::string& text) { throw QueryError(409, text); };
  switch (find_kind(query, list).value_or(SourceKind::circular)) {
    case SourceKind::schedule:
      return refuse(name +
                    " is a schedule, whose jobs run again when they are set; to run a job again: "
                    "w8yctl schedule -k " +
                    escape_text(key_names(query, list).prefix) + " set JOB NOW");
    case SourceKind::job:
      check_feed_tag(query, list);
      if (change == GroupChange::retry) return;
      return refuse(name + " is a feed of jobs; to return the stalled jobs of the group to their " +
                    "queue: w8yctl errors " + name + " " + id + " --retry");
    case SourceKind::gearman:
      refuse_gearman(list);
    case SourceKind::circular:
      break;
  }
  if (change == GroupChange::retry)
    refuse("the list " + name + " has no jobs that can be stalled; to release its items: " +
           "w8yctl errors " + name + " " + id + " --release");
}

}  // namespace

std::size_t ChangedGroup::changed() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      items, [](const ChangedItem& each) { return each.done && !each.same; }));
}

ChangedGroup change_group(QueryContext& query, const std::string& list, const std::string& id,
                          const std::optional<WallTime>& since, GroupChange change,
                          const ChangeNote& note) {
  const ErrorItems found = items_of_group(query, list, id, since);
  check_change(query, list, id, change);
  ChangedGroup all{{}, found.too_long, found.complete};
  if (change == GroupChange::release) all.items = release_items(query, list, found.items);
  if (change == GroupChange::quarantine)
    all.items = quarantine_items(query, list, found.items, note);
  if (change == GroupChange::retry) all.items = retry_jobs(query, list, found.items);
  return all;
}

}  // namespace w8y::verbs

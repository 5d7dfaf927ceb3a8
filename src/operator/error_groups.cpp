#include "operator/error_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/error_pattern.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "operator/history.hpp"
#include "operator/lists.hpp"
#include "operator/runs.hpp"
#include "view/run_view.hpp"

namespace w8y::verbs {

namespace {

/// Groups that are counted. Of further ones, only the runs are counted.
constexpr std::size_t max_counted_groups = 10'000;

/// Returns the ID of a group: FNV-1a of its list and message.
std::string group_id(const std::string& list, const std::string& message) {
  std::uint32_t value = 0x811c9dc5;
  const auto add = [&value](std::string_view text) {
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x01000193U;
  };
  add(list);
  add(std::string_view("\0", 1));
  add(message);
  static constexpr char digits[] = "0123456789abcdef";
  std::string id(8, '0');
  for (auto at = id.rbegin(); at != id.rend(); ++at, value >>= 4U) *at = digits[value & 15U];
  return id;
}

std::string message_of(const view::RunRecord& run) {
  std::string message = core::error_pattern(error_text(run));
  return message.empty() ? run.outcome : message;
}

/// Reads the records of failed runs that a filter selects.
class ErrorWalk {
 public:
  ErrorWalk(QueryContext& query, const std::optional<std::string>& list,
            const std::optional<WallTime>& since)
      : history_(query.redis, key_names(query, lists_of(query, list)), History::Of::failed_runs),
        since_(since) {}

  bool next(view::RunRecord& run) {
    while (history_.next(run)) {
      if (since_ && run.entered < *since_) return false;
      if (run.outcome != "cancelled") return true;
    }
    return false;
  }
  [[nodiscard]] std::size_t read() const { return history_.read(); }

 private:
  History history_;
  std::optional<WallTime> since_;
};

/// Group while it is counted.
struct Counted {
  view::ErrorGroup group;
  std::unordered_map<std::size_t, std::size_t> items;  ///< hash → number of runs
};

void count(Counted& counted, const view::RunRecord& run) {
  view::ErrorGroup& group = counted.group;
  if (group.runs++ == 0) {
    group.last = run.entered;
    group.last_run = run.run;
  }
  group.first = run.entered;
  const std::size_t item = std::hash<std::string>{}(run.item.beginning) ^ run.item.length;
  if (counted.items.size() < ErrorGroups::max_items || counted.items.contains(item)) {
    const std::size_t runs = ++counted.items[item];
    if (runs > group.item_runs) {
      group.item_runs = runs;
      group.item = view::shortened(run.item, view::ErrorGroup::max_item);
    }
  } else {
    group.more_items = true;
  }
  if (group.hosts.size() < ErrorGroups::max_hosts) {
    group.hosts.insert(run.host);
  } else if (!group.hosts.contains(run.host)) {
    group.more_hosts = true;
  }
}

}  // namespace

std::string to_json(const ErrorGroups& errors) {
  core::AsciiObject json;
  json.put_json("errors", core::json_array(errors.groups, [](const view::ErrorGroup& group) {
                  return view::to_json(group);
                }));
  json.put("omitted_groups", errors.omitted_groups);
  json.put("omitted_runs", errors.omitted_runs);
  json.put("complete", errors.complete);
  return json.finish();
}

std::string group_of(const view::RunRecord& run) {
  return group_id(run.list, message_of(run));
}

ErrorGroups group_errors(QueryContext& query, const ErrorFilter& filter) {
  ErrorGroups result;
  std::map<std::pair<std::string, std::string>, Counted> counted;
  ErrorWalk walk(query, filter.list, filter.since);
  view::RunRecord run;
  while (walk.next(run)) {
    std::pair key(run.list, message_of(run));
    if (counted.size() < max_counted_groups || counted.contains(key)) {
      count(counted[std::move(key)], run);
    } else {
      ++result.omitted_runs;
    }
    if (walk.read() >= filter.max_read) {
      result.complete = !walk.next(run);
      break;
    }
  }
  for (auto& [key, each] : counted) {
    each.group.id = group_id(key.first, key.second);
    each.group.list = key.first;
    each.group.message = key.second;
    each.group.items = each.items.size();
    result.groups.push_back(std::move(each.group));
  }
  std::ranges::stable_sort(result.groups, [](const view::ErrorGroup& a, const view::ErrorGroup& b) {
    return a.runs != b.runs ? a.runs > b.runs : a.last > b.last;
  });
  for (std::size_t i = filter.max_groups; i < result.groups.size(); ++i) {
    ++result.omitted_groups;
    result.omitted_runs += result.groups[i].runs;
  }
  if (result.groups.size() > filter.max_groups) result.groups.resize(filter.max_groups);
  return result;
}

ErrorItems items_of_group(QueryContext& query, const std::string& list, const std::string& id,
                          const std::optional<WallTime>& since) {
  ErrorItems found;
  std::set<Item> items;
  bool exists = false;
  ErrorWalk walk(query, list, since);
  view::RunRecord run;
  while (walk.next(run)) {
    if (run.list != list || group_of(run) != id) continue;
    exists = true;
    if (run.item.is_truncated()) {
      ++found.too_long;
    } else if (items.size() < max_found_items) {
      items.insert(run.item.beginning);
    } else if (!items.contains(run.item.beginning)) {
      found.complete = false;
      break;
    }
  }
  if (!exists)
    throw QueryError(404, "the list " + escape_text(list) + " has no group of errors " +
                              escape_text(id) + "; to list its groups: w8yctl errors " +
                              shell_argument(list));
  found.items.assign(items.begin(), items.end());
  return found;
}

}  // namespace w8y::verbs

#include "operator/why.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"
#include "core/status.hpp"
#include "operator/circular_items.hpp"
#include "operator/history.hpp"
#include "operator/item_changes.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "operator/runs.hpp"
#include "operator/stored.hpp"
#include "view/run_view.hpp"

namespace w8y::verbs {

namespace {

using redis::ReplyCopy;

/// Maximum number of items before an item that are examined for the position of the item.
constexpr std::size_t max_counted = 10'000;
/// Run records that are searched for the last failure.
constexpr std::size_t max_back = 2'000;
/// Failed runs that are shown before the last one.
constexpr std::size_t max_earlier = 3;
/// Runs that show how fast a list runs: those of this time, but at least `min_measured` of the
/// maximum time.
constexpr std::size_t max_measured = 100;
constexpr std::size_t min_measured = 5;
constexpr WallTime measured_time = std::chrono::minutes(1);
constexpr WallTime max_measured_time = std::chrono::hours(1);
/// Bytes of the value of a pause.
constexpr const char* max_of_pause = "4096";

/// Adds the state and progress that the host of an active run replied.
void add_run(WhyItem& item, const FleetCommandResult& replies) {
  if (item.run.empty()) return;
  for (const FleetReply& host : replies.replies)
    for (const view::RunView& run : host.runs) {
      if (run.status.run != item.run) continue;
      item.stopping = run.status.state == RunStatus::State::stopping;
      item.progress = run.status.progress;
      return;
    }
}

// ---- the list

void read_pause(WhyList& list, const ReplyCopy& left, const ReplyCopy& value) {
  if (redis::checked(left).number == -2) return;
  list.pause = parse_pause(value.text);
  if (const auto time = read_ms(left.number)) list.pause->until = list.now + *time;
}

WhyList read_why_list(QueryContext& query, const WhyQuestion& question, const KindTraits& kind) {
  redis::SyncClient& client = query.redis;
  WhyList list;
  list.name = question.list;
  list.kind = &kind;
  list.time_text = question.time_text;
  list.fleet = query.fleet;
  list.fleet_error = question.fleet_error;
  list.hosts = question.hosts;
  add_replies(list.hosts, question.replies);
  list.now = redis::server_time(client.call({"TIME"}));
  const KeyNames keys = key_names(query, question.list);
  if (kind.has_key_prefix) list.key_prefix = keys.prefix;
  const std::string paused = keys.own("paused"), slots = keys.own("slots"), runs = keys.own("runs"),
                    failed_runs = keys.own("failed-runs"), breaker = keys.own("breaker");
  const std::string now = std::to_string(list.now.count());
  const auto told = client.pipeline({{"PTTL", paused},
                                     {"GETRANGE", paused, "0", max_of_pause},
                                     {"ZCOUNT", slots, "(" + now, "+inf"},
                                     {"EXISTS", runs, failed_runs},
                                     {"HMGET", breaker, "since", "probe", "failed", "reason"}});
  read_pause(list, told[0], told[1]);
  if (!told[2].is_error()) list.fleet_runs = static_cast<std::size_t>(told[2].number);
  if (const auto& open = told[4].elements; !told[4].is_error() && open.size() == 4)
    list.breaker = read_open_breaker(open[0].text, open[1].text, open[2].text, open[3].text);
  list.has_keys = told[3].number > 0 || list.pause || list.breaker;
  return list;
}

// ---- items of a circular list

/// Reads the last failed run of the item, and the failed runs between it and the last success.
void read_failures(QueryContext& query, const WhyQuestion& question, WhyItem& item) {
  const KeyNames list = key_names(query, question.list);
  const RunFilter filter{.item = question.item, .outcomes = {}, .failed = false, .host = {}};
  History history(query.redis, {list});
  view::RunRecord run;
  for (std::size_t i = 0;
       i < max_back && item.earlier_failures.size() < max_earlier && history.next(run); ++i) {
    if (!filter.fits(run)) continue;
    if (!run.failed() && item.last_failure) return;
    if (!run.failed()) continue;
    run.reason = error_text(run);
    if (item.last_failure) {
      item.earlier_failures.push_back(std::move(run));
    } else {
      item.last_failure = std::move(run);
    }
    run = {};
  }
  if (item.last_failure) return;
  item.last_failure = read_kept_run(query.redis, list, *question.item);
  if (item.last_failure) item.last_failure->reason = error_text(*item.last_failure);
}

/// Returns how many runs of the list end per second, measured by the last ones; 0: not known.
double runs_per_second(redis::SyncClient& client, const KeyNames& list, WallTime now) {
  History history(client, {list});
  view::RunRecord run;
  std::optional<WallTime> newest;
  WallTime oldest{0};
  std::size_t count = 0;
  for (; count < max_measured && history.next(run); ++count) {
    const WallTime age = now - run.entered;
    if (age > measured_time && (count >= min_measured || age > max_measured_time)) break;
    if (!newest) newest = run.entered;
    oldest = run.entered;
  }
  if (!newest || *newest <= oldest) return 0;
  return static_cast<double>(count - 1) * 1000 / static_cast<double>((*newest - oldest).count());
}

/// Counts the free items in front of this one. Of many items, only the first are examined.
void count_ahead(QueryContext& query, const std::string& list, WhyItem& item) {
  const std::size_t examined = std::min(item.position, max_counted);
  const auto before = read_part(query.redis, circular_keys(query, list), 0, examined);
  const auto free = static_cast<std::size_t>(
      std::count_if(before.begin(), before.end(), [&item](const view::ItemView& each) {
        return each.state == "free" && each.item != item.item;
      }));
  item.ahead_estimated = examined < item.position;
  item.ahead = item.ahead_estimated ? free * (item.position / examined) : free;
}

/// Adds the items that are claimed first, and the speed of the list, to an item that can be
/// claimed.
void read_position(QueryContext& query, const WhyQuestion& question, const WhyList& list,
                   WhyItem& item) {
  if (item.state == "free") count_ahead(query, question.list, item);
  if (item.state == "queued" && item.queue_position > 0) item.ahead = item.queue_position - 1;
  if (item.ahead)
    item.runs_per_second = runs_per_second(query.redis, key_names(query, question.list), list.now);
}

/// Reads the item from a list of any kind. Its state is empty if the list does not have it.
WhyItem read_why_item(QueryContext& query, const WhyQuestion& question, const KindVerbs& verbs) {
  const Item& name = *question.item;
  std::optional<view::ItemView> found;
  if (verbs.find_item != nullptr) found = verbs.find_item(query, question.list, name);
  WhyItem item(found ? std::move(*found) : view::item_named(name));
  item.listed = item.copies > 0;
  if (const auto list = query.lists == nullptr ? std::nullopt : query.lists->find(question.list))
    item.max_failures = list->maintenance.max_failures;
  return item;
}

/// Returns whether the last failure explains more than the current state.
bool wants_failure(const WhyItem& item) {
  return item.failures > 0 || item.state == "quarantined" || item.state == "died" ||
         item.state == "stalled";
}

}  // namespace

namespace {

/// Suggests a name if neither the config, a host nor Redis has the list.
void suggest_name(QueryContext& query, WhyList& list) {
  const bool served = std::any_of(list.hosts.begin(), list.hosts.end(),
                                  [](const FleetHost& host) { return !host.lists.empty(); });
  if (list.has_keys || served) return;
  if (query.lists == nullptr || !query.lists->contains(list.name))
    list.near = near_list(query, list.name);
}

}  // namespace

Why explain(QueryContext& query, const WhyQuestion& question) {
  const KindTraits& kind = kind_or_default(query, question.list);
  const KindVerbs& verbs = verbs_of(kind);
  WhyList list = read_why_list(query, question, kind);
  if (verbs.add_facts != nullptr) verbs.add_facts(query, list);
  if (!question.item) {
    WhyItems items;
    if (verbs.count_items != nullptr) items = verbs.count_items(query, list);
    list.has_keys = list.has_keys || items.length > 0;
    suggest_name(query, list);
    return why_list(list, items);
  }
  WhyItem item = read_why_item(query, question, verbs);
  // A list whose kind is not the default is in the config or has keys.
  list.has_keys = &kind != default_kind || !item.state.empty() ||
                  query.redis.call({"EXISTS", circular_keys(query, question.list).list}).number > 0;
  suggest_name(query, list);
  add_run(item, question.replies);
  if (wants_failure(item)) read_failures(query, question, item);
  read_position(query, question, list, item);
  const auto changes =
      read_changes(query.redis, key_names(query, question.list), DisplayItem(*question.item), 1);
  if (!changes.empty()) item.last_change = changes.front();
  return why_item(list, item);
}

}  // namespace w8y::verbs

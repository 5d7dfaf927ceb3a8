#include "operator/changes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "operator/circular_items.hpp"
#include "operator/item_changes.hpp"
#include "operator/key_names.hpp"
#include "operator/key_prefixes.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "operator/stored.hpp"
#include "store/circular/item_changes.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::verbs {

namespace {

/// Notifies hosts that show the list (w8y-keys(7)). A host that claims nothing from it would not
/// detect the change soon. Without the permission, hosts detect it a little later.
void publish_change(QueryContext& query, const std::string& list) {
  const std::string channel = store::FleetKeys(query.fleet).changes;
  static_cast<void>(query.redis.pipeline({{"PUBLISH", channel, list}}));
}

/// Result of a change of one item.
struct Result {
  const char* text;
  bool done = true;
  bool same = false;  ///< as in ChangedItem
};
constexpr Result not_listed{"not in the list", false};

/// Results of a script, in the order of its enum.
template <class How>
constexpr std::nullptr_t results_of = nullptr;
template <>
constexpr auto results_of<store::AddedAs> =
    std::to_array<Result>({{"in the list already; skipped", true, true}, {"added"}});
template <>
constexpr auto results_of<store::QuarantinedAs> = std::to_array<Result>(
    {not_listed,
     {"quarantined"},
     {"was quarantined already", true, true},
     {"is running; will be quarantined at the end of its run"},
     {"is running; its quarantine at the end of its run is already requested", true, true}});
template <>
constexpr auto results_of<store::ReleasedAs> =
    std::to_array<Result>({not_listed,
                           {"released"},
                           {"was free", true, true},
                           {"is running; nothing to release", false},
                           {"is running; will not be quarantined at the end of its run"}});
template <>
constexpr auto results_of<store::MovedAs> =
    std::to_array<Result>({not_listed,
                           {"is the next to be claimed"},
                           {"is running already", false},
                           {"is quarantined; release it first", false}});
template <>
constexpr auto results_of<store::RerunAs> =
    std::to_array<Result>({not_listed,
                           {"is free: its delay has ended"},
                           {"was free", true, true},
                           {"is running; runs again after this run"},
                           {"is quarantined; release it first", false}});

template <class How>
ChangedItem changed(const DisplayItem& item, How how) {
  const Result& result = results_of<How>.at(static_cast<std::size_t>(how));
  return {item, result.text, result.done, result.same};
}

/// `copies`: number of removed copies.
ChangedItem changed(const DisplayItem& item, std::size_t copies) {
  return copies > 0 ? ChangedItem{item, "removed"} : ChangedItem{item, not_listed.text, false};
}

/// `copies`: number of removed copies; nullopt: the item was in another state.
ChangedItem changed(const DisplayItem& item, std::optional<std::size_t> copies) {
  return copies ? changed(item, *copies)
                : ChangedItem{item, "not removed: its state has changed", false};
}

template <class How>
std::vector<ChangedItem> all_changed(const std::vector<Item>& items, const std::vector<How>& how) {
  std::vector<ChangedItem> all;
  for (std::size_t i = 0; i < items.size(); ++i)
    all.push_back(changed(DisplayItem(items[i]), how[i]));
  return all;
}

/// Records the items that were changed, and returns the results.
std::vector<ChangedItem> recorded(QueryContext& query, const std::string& list,
                                  const view::ItemChange& change, std::vector<ChangedItem> all) {
  std::vector<DisplayItem> items;
  for (const ChangedItem& each : all)
    if (each.done && !each.same) items.push_back(each.item);
  if (!items.empty() && !change.by.empty())
    record_changes(query.redis, key_names(query, list).start(), change, items);
  return all;
}
/// The same for a change without a reason, by the operator of the query.
std::vector<ChangedItem> recorded(QueryContext& query, const std::string& list, const char* change,
                                  std::vector<ChangedItem> all) {
  return recorded(query, list, view::ItemChange{change, query.by, {}, {}}, std::move(all));
}

/// Returns the items in these states, without items of which only the beginning is known.
std::vector<Item> items_in(QueryContext& query, const store::CircularKeys& keys,
                           const std::vector<std::string>& states) {
  std::vector<Item> items;
  for (view::ItemView& item : read_items(query.redis, keys).items)
    if (!item.cut() && std::find(states.begin(), states.end(), item.state) != states.end())
      items.push_back(std::move(item.item));
  return items;
}

/// Adds a result for each long item that a script changed at its position in the list.
void add_long(std::vector<ChangedItem>& all, const std::vector<DisplayItem>& items,
              const char* result) {
  for (const DisplayItem& item : items) all.push_back({item, result});
}

}  // namespace

void pause_list(QueryContext& query, const std::string& list, const Pause& pause,
                std::optional<Duration> period) {
  check_key_prefix(query, list);
  const store::CircularKeys keys = circular_keys(query, list);
  const std::string value = pause_value(pause);
  redis::Command set = {"SET", keys.paused, value};
  std::string life;
  if (period) {
    life = std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*period).count());
    set.insert(set.end(), {"PX", life});
  }
  query.redis.call(set);
  // Waiting hosts then report the list as paused.
  query.redis.call({"PUBLISH", keys.wake, "paused"});
  publish_change(query, list);
}

bool resume_list(QueryContext& query, const std::string& list) {
  check_key_prefix(query, list);
  const store::CircularKeys keys = circular_keys(query, list);
  bool waited = query.redis.call({"HEXISTS", keys.breaker, "since"}).number > 0;
  query.redis.call({"DEL", keys.breaker});
  waited = query.redis.call({"DEL", keys.paused}).number > 0 || waited;
  if (waited) query.redis.call({"PUBLISH", keys.wake, "resumed"});
  publish_change(query, list);
  return waited;
}

std::vector<ChangedItem> add_items(QueryContext& query, const std::string& list,
                                   const std::vector<Item>& items, bool again) {
  return recorded(
      query, list, "added",
      all_changed(items,
                  store::ItemChanges(query.redis, item_keys(query, list)).add(items, again)));
}

store::RecordedReply add_items(QueryContext& query, const std::string& list,
                               const std::vector<Item>& items, bool again,
                               const RequestOnce& request) {
  const store::CircularKeys keys = item_keys(query, list);
  const store::RecordedReply reply = write(query, [&] {
    return store::ItemChanges(query.redis, keys)
        .add(items, again, record_of(request, keys.request_prefix));
  });
  record_added(query.redis, key_names(query, list).start(), query.by, items, reply);
  return reply;
}

std::vector<ChangedItem> remove_items(QueryContext& query, const std::string& list,
                                      const std::vector<Item>& items) {
  return recorded(
      query, list, "removed",
      all_changed(items, store::ItemChanges(query.redis, item_keys(query, list)).remove(items)));
}

std::vector<ChangedItem> remove_all(QueryContext& query, const std::string& list,
                                    const std::string& state) {
  const store::CircularKeys keys = item_keys(query, list);
  store::ItemChanges changes(query.redis, keys);
  const std::vector<Item> items = items_in(query, keys, {state});
  auto all = all_changed(items, changes.remove(items, state));
  add_long(all, changes.change_long(store::ItemChanges::LongChange::remove, {state}), "removed");
  return recorded(query, list, "removed", std::move(all));
}

std::vector<ChangedItem> quarantine_items(QueryContext& query, const std::string& list,
                                          const std::vector<Item>& items, const ChangeNote& note) {
  store::ItemChanges changes(query.redis, item_keys(query, list));
  return recorded(
      query, list, view::ItemChange{"quarantined", note.by, note.reason, {}},
      all_changed(items, changes.quarantine(items, {{}, note.by, note.reason, note.now})));
}

std::vector<ChangedItem> release_items(QueryContext& query, const std::string& list,
                                       const std::vector<Item>& items) {
  return recorded(
      query, list, "released",
      all_changed(items, store::ItemChanges(query.redis, item_keys(query, list)).release(items)));
}

ChangedItem move_first(QueryContext& query, const std::string& list, const Item& item) {
  const store::CircularKeys keys = item_keys(query, list);
  if (query.redis.call({"EXISTS", keys.paused}).number > 0)
    return {DisplayItem(item), "is not moved: the list is paused; resume it first", false};
  return recorded(
             query, list, "moved first",
             {changed(DisplayItem(item), store::ItemChanges(query.redis, keys).move_first(item))})
      .front();
}

std::vector<ChangedItem> rerun_items(QueryContext& query, const std::string& list,
                                     const std::vector<Item>& items) {
  if (const auto refuse = verbs_of(kind_with_items(query, list)).refuse_rerun; refuse != nullptr)
    refuse(query, list, items.empty() ? "JOB" : item_text(DisplayItem(items.front())));
  store::ItemChanges changes(query.redis, circular_keys(query, list));
  std::vector<ChangedItem> all;
  for (const Item& item : items) all.push_back(changed(DisplayItem(item), changes.rerun(item)));
  return recorded(query, list, "rerun", std::move(all));
}

std::vector<ChangedItem> release_all(QueryContext& query, const std::string& list,
                                     const std::vector<std::string>& states) {
  const store::CircularKeys keys = item_keys(query, list);
  store::ItemChanges changes(query.redis, keys);
  std::vector<Item> items = items_in(query, keys, states);
  // Includes items that are only in the index of quarantines: they may be missing from the list, or
  // still running.
  if (std::find(states.begin(), states.end(), "quarantined") != states.end()) {
    std::set<Item> known(items.begin(), items.end());
    for (auto& found : changes.quarantined())
      if (known.insert(found.item).second) items.push_back(std::move(found.item));
  }
  auto all = all_changed(items, changes.release(items));
  add_long(all, changes.change_long(store::ItemChanges::LongChange::release, states), "released");
  return recorded(query, list, "released", std::move(all));
}

void request_quarantine(QueryContext& query, const view::RunView& run, const ChangeNote& note) {
  verbs_of(kind_with_items(query, run.list)).quarantine_run(query, run, note);
  record_changes(query.redis, key_names(query, run.list).start(),
                 {"quarantined", note.by, note.reason, {}}, {run.status.item});
}

}  // namespace w8y::verbs

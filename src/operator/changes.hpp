// Changes of lists and items by operators, for w8yctl and the status API. All functions throw
// redis::RedisError, and QueryError if the change is not possible.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pause.hpp"
#include "operator/query_context.hpp"
#include "operator/request_once.hpp"
#include "view/run_view.hpp"

namespace w8y::verbs {

/// Operator, reason and time of a change.
struct ChangeNote {
  std::string by;
  std::string reason;
  WallTime now{0};
};

// ---- lists of any kind

/// Pauses a list on all hosts, for `period` if there is one. `pause.until` is then its end.
void pause_list(QueryContext& query, const std::string& list, const Pause& pause,
                std::optional<Duration> period);
/// Ends the pause of a list, and closes its breaker. False: the list was not paused, and its
/// breaker was not open.
bool resume_list(QueryContext& query, const std::string& list);

// ---- items of circular lists

struct ChangedItem {
  DisplayItem item;
  std::string result;  ///< as text: "released"
  bool done = true;
  bool same = false;  ///< done, and nothing differs from before
};

/// Adds items to the end of the list. `again`: also items that the list has already.
std::vector<ChangedItem> add_items(QueryContext& query, const std::string& list,
                                   const std::vector<Item>& items, bool again);
/// The same for at most store::max_added items, in one call that also records the request.
store::RecordedReply add_items(QueryContext& query, const std::string& list,
                               const std::vector<Item>& items, bool again,
                               const RequestOnce& request);
/// Removes all copies of the items.
std::vector<ChangedItem> remove_items(QueryContext& query, const std::string& list,
                                      const std::vector<Item>& items);
/// Removes all items in this state. An item that leaves the state before its removal stays.
std::vector<ChangedItem> remove_all(QueryContext& query, const std::string& list,
                                    const std::string& state);
/// Quarantines items until they are released. Active runs continue.
std::vector<ChangedItem> quarantine_items(QueryContext& query, const std::string& list,
                                          const std::vector<Item>& items, const ChangeNote& note);
/// Ends the delay or quarantine of items.
std::vector<ChangedItem> release_items(QueryContext& query, const std::string& list,
                                       const std::vector<Item>& items);
/// Makes an item the next one to be claimed, and ends its delay. Not done if it runs or is
/// quarantined, or if the list is paused.
ChangedItem move_first(QueryContext& query, const std::string& list, const Item& item);
/// Makes sure that a run of each item starts after this call. A running item is free after its run.
/// Not done if it is quarantined.
std::vector<ChangedItem> rerun_items(QueryContext& query, const std::string& list,
                                     const std::vector<Item>& items);
/// Releases all items in one of these states, "delayed" or "quarantined".
std::vector<ChangedItem> release_all(QueryContext& query, const std::string& list,
                                     const std::vector<std::string>& states);

/// Keeps the item of an active run from running again: quarantines the item of a circular list,
/// sets the job of a schedule to STOP, stalls the job of a feed when its run ends.
void request_quarantine(QueryContext& query, const view::RunView& run, const ChangeNote& note);

}  // namespace w8y::verbs

// What an operator changes in lists and items, for w8yctl and the status API. All throw
// redis::RedisError, and Refusal where it can't be done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pause.hpp"
#include "operator/query_context.hpp"
#include "view/run_view.hpp"

namespace w8y::verbs {

/// Who asks for a change, when, and why.
struct ChangeNote {
  std::string by;
  std::string reason;
  WallTime now{0};
};

// ---- lists of any kind

/// On all hosts; with an end after `period`, which the pause knows too.
void pause_list(QueryContext& query, const std::string& list, const Pause& pause,
                std::optional<Duration> period);
/// False: it was not paused.
bool resume_list(QueryContext& query, const std::string& list);
/// JSON objects: what the two have done.
std::string pause_json(const std::string& list, const Pause& pause);
std::string resume_json(const std::string& list, bool was_paused);

// ---- items of circular lists

struct ChangedItem {
  ShownItem item;
  std::string result;  ///< in words: "released"
  bool done = true;
};

/// At the end of the list; `again`: also what is in it already.
std::vector<ChangedItem> add_items(QueryContext& query, const std::string& list,
                                   const std::vector<Item>& items, bool again);
/// Every copy of them.
std::vector<ChangedItem> remove_items(QueryContext& query, const std::string& list,
                                      const std::vector<Item>& items);
/// All that are in this state. Those that have left it meanwhile stay.
std::vector<ChangedItem> remove_all(QueryContext& query, const std::string& list,
                                    const std::string& state);
/// Until they are released. A run that goes on goes on to its end.
std::vector<ChangedItem> quarantine_items(QueryContext& query, const std::string& list,
                                          const std::vector<Item>& items, const ChangeNote& note);
/// Ends rests and quarantines.
std::vector<ChangedItem> release_items(QueryContext& query, const std::string& list,
                                       const std::vector<Item>& items);
/// All that are in one of these states, "resting" or "quarantined".
std::vector<ChangedItem> release_all(QueryContext& query, const std::string& list,
                                     const std::vector<std::string>& states);

/// Keeps the item of an active run from being run again, each kind of work in its way.
void park(QueryContext& query, const view::RunView& run, const ChangeNote& note);

}  // namespace w8y::verbs

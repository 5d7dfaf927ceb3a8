// Runs whose ID is the one that is sought, or starts so: active on a host, held by a lock,
// finished.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/query_context.hpp"
#include "view/fleet_orders.hpp"
#include "view/item_view.hpp"
#include "view/run_record.hpp"
#include "view/run_view.hpp"

namespace w8y::verbs {

/// At least one of these is there.
struct FoundRun {
  std::optional<view::RunView> active;      ///< with its host
  std::optional<view::ItemView> held;       ///< the item that a lock says it holds
  std::optional<view::RunRecord> finished;  ///< ended since it was seen active, if it was
  std::string list;
};

class RunMatches {
 public:
  /// `list`: a name or a pattern; nullopt: any. Throws Refusal for an empty `start`, 400.
  RunMatches(const std::string& start, std::optional<std::string> list);

  [[nodiscard]] const std::string& start() const { return start_; }
  [[nodiscard]] const std::optional<std::string>& list() const { return list_; }

  // Each adds what matches.
  void add(view::RunView&& run);
  /// What hosts replied to the command `runs`. The hosts that did not reply are named if no run is
  /// found.
  void add(const FleetOutcome& replies);
  /// Reads locks of circular lists. Throws redis::RedisError.
  void add_held(QueryContext& query);
  /// Reads the history. Throws redis::RedisError, and Refusal if nothing is found in the first
  /// `most_read` entries, 409; 0: reads all.
  void add_finished(QueryContext& query, std::size_t most_read = 0);

  /// The run with exactly this ID is found.
  [[nodiscard]] bool settled() const { return found_.contains(start_); }
  [[nodiscard]] bool empty() const { return found_.empty(); }
  /// The run with exactly this ID, or the only one. Throws Refusal: 404 for none, 409 for several.
  [[nodiscard]] const FoundRun& only() const;
  /// Of the run that only() returns.
  [[nodiscard]] const std::string& id() const;

 private:
  [[nodiscard]] bool fits(const std::string& list, std::string_view run) const;

  std::string start_;
  std::optional<std::string> list_;
  std::map<std::string, FoundRun> found_;  ///< by ID
  std::string missing_;                    ///< hosts that may have it
};

}  // namespace w8y::verbs

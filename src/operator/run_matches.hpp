// Runs whose ID equals or starts with a given text: active on a host, named by a lock, or
// finished.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "operator/query_context.hpp"
#include "view/fleet_commands.hpp"
#include "view/item_view.hpp"
#include "view/run_record.hpp"
#include "view/run_view.hpp"

namespace w8y::verbs {

/// A matching run. At least one of `active`, `held` and `finished` is set.
struct FoundRun {
  std::optional<view::RunView> active;      ///< with its host
  std::optional<view::ItemView> held;       ///< item whose lock names the run
  std::optional<view::RunRecord> finished;  ///< newer than `active` if both are set
  std::string list;
};

class RunMatches {
 public:
  /// `list`: a name or a pattern; nullopt: any. Throws QueryError for an empty `start`, 400.
  RunMatches(const std::string& start, std::optional<std::string> list);

  [[nodiscard]] const std::string& start() const { return start_; }

  // Each of these functions adds matching runs.
  void add(view::RunView&& run);
  /// Adds runs from the replies of hosts to the command `runs`. If no run matches, the error names
  /// the hosts that did not reply.
  void add(const FleetCommandResult& replies);
  /// Reads locks of circular lists. Throws redis::RedisError.
  void add_held(QueryContext& query);
  /// Reads the history. Throws redis::RedisError, and QueryError, 409, if the first `max_read`
  /// entries have no match; 0: reads all.
  void add_finished(QueryContext& query, std::size_t max_read = 0);

  /// Returns whether the run with exactly this ID was found.
  [[nodiscard]] bool settled() const { return found_.contains(start_); }
  [[nodiscard]] bool empty() const { return found_.empty(); }
  /// Returns the run with exactly this ID, or the only match. Throws QueryError: 404 for none, 409
  /// for several.
  [[nodiscard]] const FoundRun& only() const;
  /// Returns the ID of the run that only() returns.
  [[nodiscard]] const std::string& id() const;

 private:
  void add_kept(QueryContext& query);
  [[nodiscard]] bool fits(const std::string& list, std::string_view run) const;

  std::string start_;
  std::optional<std::string> list_;
  std::map<std::string, FoundRun> found_;  ///< by ID
  std::string missing_;                    ///< hosts without a reply, which may have the run
};

}  // namespace w8y::verbs

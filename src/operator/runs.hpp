// Queries of finished runs by operators.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "operator/history.hpp"
#include "operator/key_names.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

/// Limits and start of one page.
struct PageRequest {
  std::size_t limit = 100;
  std::string after = {};       ///< a cursor; empty: from the start
  std::size_t max_read = 5000;  ///< run records to read, in addition to the first ones of each list
};

/// Greatest difference of a host's clock from Redis's, in either direction, at which a run is still
/// found.
inline constexpr WallTime clock_slack = std::chrono::hours(24);

/// Returns the reason of the outcome of a run, and the last line of its log output.
std::string error_text(const view::RunRecord& run);

struct RunFilter {
  std::optional<Item> item = {};
  std::vector<std::string> outcomes = {};  ///< empty: any
  bool failed = false;                     ///< only runs that did not succeed
  std::string host = {};                   ///< a name or a pattern; empty: any
  std::optional<WallTime> since = {};      ///< only runs that ended since then
  std::string group = {};                  ///< ID of a group of errors; empty: any

  [[nodiscard]] bool fits(const view::RunRecord& run) const;
};

/// Receives a run. Returns false if the page is full.
using TakeRun = std::function<bool(view::RunRecord&&)>;
/// Passes finished runs to `take`, newest first, of the lists that `list` selects (lists_of()).
/// Returns the cursor of the next page; empty: there are no more runs. A page may have fewer runs
/// than its limit, even none.
std::string list_runs(QueryContext& query, const std::optional<std::string>& list,
                      const RunFilter& filter, const PageRequest& part, const TakeRun& take);

/// Returns the newest runs of one item, at most 10. Throws redis::RedisError.
std::vector<view::RunRecord> runs_of_item(redis::SyncClient& client, const KeyNames& list,
                                          const Item& item);

}  // namespace w8y::verbs

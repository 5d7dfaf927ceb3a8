// Finished runs, as operators ask for them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/item.hpp"
#include "operator/history.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

/// How much of something an answer has, and where it goes on.
struct PageRequest {
  std::size_t limit = 100;
  std::string after = {};       ///< a cursor; empty: from the beginning
  std::size_t max_read = 5000;  ///< run records that are read, besides the first ones of each list
};

/// Hosts' clocks may differ from Redis's by so much before a run is not found.
inline constexpr WallTime clock_slack = std::chrono::hours(24);

struct RunFilter {
  std::optional<Item> item = {};
  std::vector<std::string> outcomes = {};  ///< empty: any
  bool failed = false;                     ///< only what did not succeed
  std::string host = {};                   ///< a name or a pattern; empty: any
  std::optional<WallTime> since = {};      ///< only what has ended since then

  [[nodiscard]] bool fits(const view::RunRecord& run) const;
};

/// Receives a run. Returns false if the page is full.
using TakeRun = std::function<bool(view::RunRecord&&)>;
/// Passes finished runs to `take`, newest first, of the lists that `list` selects (lists_of()).
/// Returns the cursor of the next page; empty: there are no more runs. A page may have fewer runs
/// than its limit, even none.
std::string list_runs(QueryContext& query, const std::optional<std::string>& list,
                      const RunFilter& filter, const PageRequest& part, const TakeRun& take);

}  // namespace w8y::verbs

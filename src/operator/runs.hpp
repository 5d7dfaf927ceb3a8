// Finished runs, as the status API shows them.
#pragma once

#include <cstddef>
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
  std::string after;  ///< a cursor; empty: from the beginning
};

/// Hosts' clocks may differ from Redis's by so much before a run is not found.
inline constexpr WallTime clock_slack = std::chrono::hours(24);

struct RunFilter {
  std::optional<Item> item;
  std::vector<std::string> outcomes;  ///< empty: any
  bool failed = false;                ///< only what did not succeed
  std::string host;                   ///< a name or a pattern; empty: any

  [[nodiscard]] bool fits(const view::RunRecord& run) const;
};

/// {"runs": […], "next"}, newest first, of the lists that `list` means (lists_of()). Looks at some
/// thousand entries at most: fewer than the limit may be found, and more behind `next`.
std::string runs_json(QueryContext& query, const std::string& list, const RunFilter& filter,
                      const PageRequest& part);

/// The finished run with this id, or with the only id that starts so. Throws Refusal for more than
/// one, and where too many have ended since.
std::optional<view::RunRecord> find_finished(QueryContext& query, const std::string& list,
                                             const std::string& start);

}  // namespace w8y::verbs

// Changes of the items of one group of errors, for w8yctl and the status API.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/changes.hpp"

namespace w8y::verbs {

enum class GroupChange {
  release,     ///< ends the delay or quarantine of the items
  quarantine,  ///< quarantines the items
  retry,       ///< returns the stalled jobs to their queue
};

struct ChangedGroup {
  std::vector<ChangedItem> items;
  /// Runs whose items are not changed, because their records have only a part of the item.
  std::size_t too_long = 0;
  bool complete = true;  ///< false: the group has more items, which are not changed

  /// Returns the number of items that the call has changed.
  [[nodiscard]] std::size_t changed() const;
};

/// Changes the items of the runs that failed with one error. Throws QueryError: 404 if the list has
/// no such group, 409 if a list of this kind has no such change.
ChangedGroup change_group(QueryContext& query, const std::string& list, const std::string& id,
                          const std::optional<WallTime>& since, GroupChange change,
                          const ChangeNote& note);

}  // namespace w8y::verbs

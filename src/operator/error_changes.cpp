#include "operator/error_changes.hpp"

#include <algorithm>

#include "operator/error_groups.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"

namespace w8y::verbs {

std::size_t ChangedGroup::changed() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      items, [](const ChangedItem& each) { return each.done && !each.same; }));
}

ChangedGroup change_group(QueryContext& query, const std::string& list, const std::string& id,
                          const std::optional<WallTime>& since, GroupChange change,
                          const ChangeNote& note) {
  const ErrorItems found = items_of_group(query, list, id, since);
  const KindTraits& kind = kind_or_default(query, list);
  if (!kind.in_redis) refuse_gearman(list);
  return {verbs_of(kind).change_group(query, list, id, found.items, change, note), found.too_long,
          found.complete};
}

}  // namespace w8y::verbs

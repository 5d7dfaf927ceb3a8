// Items of lists of any kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/item.hpp"
#include "operator/query_context.hpp"
#include "operator/runs.hpp"
#include "view/item_change.hpp"
#include "view/item_view.hpp"
#include "view/run_record.hpp"

namespace w8y::verbs {

struct ItemFilter {
  std::string state;   ///< empty: any
  std::string search;  ///< part of the name; empty: any

  [[nodiscard]] bool fits_name(std::string_view item) const {
    return item.find(search) != std::string_view::npos;
  }
  [[nodiscard]] bool fits(const view::ItemView& of) const;
};

struct ItemsPage {
  const KindTraits* kind = default_kind;
  std::int64_t length = 0;  ///< of the list
  std::vector<view::ItemView> items;
  std::string next;  ///< a cursor; empty: there are no more
};

/// Returns a page of the items of the list named `list`. The number of items that it reads is
/// limited, so a page may have fewer items than its limit and still have a `next`.
ItemsPage list_items(QueryContext& query, const std::string& list, const ItemFilter& filter,
                     const PageRequest& part);

/// Returns the items of a list of this kind in a state (empty: any state), at most `most` of them
/// (0: all). Throws QueryError, 409, for a list of Gearman.
view::ItemList all_items(QueryContext& query, const std::string& list, const KindTraits& kind,
                         const std::string& state, std::size_t most);

/// Reads the payloads of these items: their first bytes, or all (`whole`). Does nothing if items of
/// this kind have no payload.
void read_payloads(QueryContext& query, const std::string& list, const KindTraits& kind,
                   std::vector<view::ItemView>& items, bool whole);

struct ItemDetail {
  const KindTraits* kind = default_kind;
  view::ItemView item;                ///< a job of a schedule: with its schedule and next times
  std::vector<view::RunRecord> runs;  ///< the newest runs
  std::vector<view::ItemChange> changes = {};  ///< the newest changes by operators
  std::optional<std::string> key_prefix = {};  ///< only if KindTraits::has_key_prefix
};

/// Reads one item of the list named `list`. Throws QueryError.
ItemDetail show_item(QueryContext& query, const std::string& list, const Item& name);

}  // namespace w8y::verbs

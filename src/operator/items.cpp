#include "operator/items.hpp"

#include <utility>

#include "core/escape.hpp"
#include "operator/item_changes.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "view/kinds.hpp"

namespace w8y::verbs {

using view::ItemView;

bool ItemFilter::fits(const ItemView& of) const {
  return (state.empty() || state == of.state) && fits_name(of.item);
}

ItemsPage list_items(QueryContext& query, const std::string& list, const ItemFilter& filter,
                     const PageRequest& part) {
  ItemsPage found;
  found.kind = &kind_with_items(query, list);
  check_state(list, filter.state, view::view_of(*found.kind).states);
  verbs_of(*found.kind).list_items(query, list, filter, part, found);
  return found;
}

void read_payloads(QueryContext& query, const std::string& list, const KindTraits& kind,
                   std::vector<ItemView>& items, bool whole) {
  if (const auto read = verbs_of(kind).read_payloads; read != nullptr)
    read(query, list, items, whole);
}

view::ItemList all_items(QueryContext& query, const std::string& list, const KindTraits& kind,
                         const std::string& state, std::size_t most) {
  if (!kind.in_redis) refuse_gearman(list);
  return verbs_of(kind).all_items(query, list, state, most);
}

ItemDetail show_item(QueryContext& query, const std::string& list, const Item& name) {
  ItemDetail found;
  found.kind = &kind_with_items(query, list);
  auto item = verbs_of(*found.kind).show_item(query, list, name);
  if (!item)
    throw QueryError(404, std::string("there is no ") + view::view_of(*found.kind).item + " " +
                              escape_text(name) + " in " + escape_text(list));
  std::vector<ItemView> items{std::move(*item)};
  read_payloads(query, list, *found.kind, items, false);
  found.item = std::move(items.front());
  const KeyNames names = key_names(query, list);
  if (found.kind->has_key_prefix) found.key_prefix = names.prefix;
  found.runs = runs_of_item(query.redis, names, name);
  found.changes = read_changes(query.redis, names, DisplayItem(name));
  return found;
}

}  // namespace w8y::verbs

// Change of an item by an operator, as `P:changes` has it (w8y-keys(7)).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/item.hpp"

namespace w8y::view {

struct ItemChange {
  std::string change;  ///< past participle: "released"
  std::string by;      ///< the operator: "alice on web1"
  std::string reason;  ///< may be empty
  WallTime time{0};    ///< by the clock of Redis
};

/// Returns the record of a change without its first member, the time, which Redis adds. Long texts
/// are truncated.
std::string change_record(const ItemChange& change, const DisplayItem& item);
/// Returns the text that all records of changes of this item contain.
std::string text_in_records(const DisplayItem& item);
/// Parses a record. nullopt: it is of another item, or not valid.
std::optional<ItemChange> read_change(std::string_view record, const DisplayItem& item);
/// Returns an object of "changes" in GET /api/v1/lists/LIST/items/ITEM.
std::string to_json(const ItemChange& change);

}  // namespace w8y::view

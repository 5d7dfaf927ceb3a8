#include "view/item_change.hpp"

#include <cstddef>

#include "core/json_object.hpp"
#include "view/json_fields.hpp"
#include "view/run_view.hpp"

namespace w8y::view {

namespace {

constexpr std::size_t max_by = 256;
constexpr std::size_t max_change_reason = 1024;
/// Maximum length of a record that is parsed. A longer one is not from w8y.
constexpr std::size_t max_record = std::size_t{64} << 10;

}  // namespace

std::string change_record(const ItemChange& change, const DisplayItem& item) {
  core::JsonObject json;
  json.put("change", change.change);
  put_item(json, "item", item);
  json.put("by", std::string_view(change.by).substr(0, max_by));
  if (!change.reason.empty())
    json.put("reason", std::string_view(change.reason).substr(0, max_change_reason));
  return "," + json.finish().substr(1);
}

std::string text_in_records(const DisplayItem& item) {
  core::JsonObject json;
  put_item(json, "item", item);
  const std::string text = json.finish();
  return text.substr(1, text.size() - 2);
}

std::optional<ItemChange> read_change(std::string_view record, const DisplayItem& item) {
  const auto json = JsonFields::parse(record, max_record);
  const auto found = json ? read_item(*json) : std::nullopt;
  if (!found || found->beginning != item.beginning || found->length != item.length)
    return std::nullopt;
  ItemChange change{json->text("change"), json->text("by"), json->text("reason"), {}};
  change.time = json->ms("time_ms").value_or(WallTime{0});
  return change;
}

std::string to_json(const ItemChange& change) {
  core::AsciiObject json;
  json.put("time_ms", change.time.count());
  json.put("change", change.change);
  json.put("by", change.by);
  if (!change.reason.empty()) json.put("reason", change.reason);
  return json.finish();
}

}  // namespace w8y::view

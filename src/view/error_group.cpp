#include "view/error_group.hpp"

#include "core/json_object.hpp"
#include "view/field.hpp"
#include "view/run_view.hpp"

namespace w8y::view {

std::string to_json(const ErrorGroup& group) {
  core::AsciiObject json(300 + group.message.size());
  json.put("group", group.id);
  json.put_bytes("list", group.list);
  json.put_bytes("message", group.message);
  json.put("runs", group.runs);
  json.put("items", group.items);
  json.put("more_items", group.more_items);
  json.put("first_ms", group.first.count());
  json.put("last_ms", group.last.count());
  json.put("last_run", group.last_run);
  put_item(json, "item", group.item);
  json.put("item_runs", group.item_runs);
  json.put_json("hosts", texts_json({group.hosts.begin(), group.hosts.end()}));
  json.put("more_hosts", group.more_hosts);
  return json.finish();
}

}  // namespace w8y::view

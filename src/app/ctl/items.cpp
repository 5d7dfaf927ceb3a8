// The items of a list, and what each is doing.
#include <iostream>
#include <map>

#include <w8y/escape.hpp>

#include "app/ctl/commands.hpp"
#include "app/ctl/failure.hpp"
#include "app/ctl/item_states.hpp"
#include "app/ctl/table.hpp"
#include "app/ctl/text.hpp"

namespace w8y::app::ctl {

namespace {

using ops::Json;

std::string left_text(const ItemState& item) {
  if (item.left) return rough(*item.left) + " left";
  return item.lock.empty() ? "" : "no end";
}

std::string detail_of(const ItemState& item) {
  std::string text;
  const std::string state = item.state;
  if (!item.host.empty()) {
    text =
        "on " + escape_text(item.host) + ", pid " + escape(item.pid) + ", run " + escape(item.run);
  } else if (state == "running") {
    text = "by another program: " + escape_text(item.lock);
  } else if (state == "quarantined") {
    text = item.run.empty() ? escape(item.why) : "after run " + escape(item.run);
  } else {
    text = escape(item.why);
  }
  if (item.failures > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(item.failures) + " failed in a row";
  if (item.copies > 1)
    text += (text.empty() ? "" : ", ") + std::to_string(item.copies) + " times in the list";
  return text;
}

Json to_json(const ItemState& item) {
  Json json = Json::object();
  ops::put_bytes(json, "item", item.item);
  json["state"] = item.state;
  json["copies"] = item.copies;
  json["failures"] = item.failures;
  if (!item.lock.empty()) ops::put_bytes(json, "lock", item.lock);
  if (item.left) json["left_ms"] = item.left->count();
  if (!item.host.empty()) ops::put_bytes(json, "host", item.host);
  if (!item.pid.empty()) json["pid"] = std::atoi(item.pid.c_str());
  if (!item.run.empty()) ops::put_bytes(json, "run", item.run);
  if (item.since) json["since_ms"] = item.since->count();
  if (!item.why.empty()) ops::put_bytes(json, "why", item.why);
  return json;
}

void print_items(const std::vector<ItemState>& items, const std::string& wanted) {
  Table table({"ITEM", "STATE", "FOR", "LOCK", "WHY"});
  std::map<std::string, std::size_t> states;
  for (const auto& item : items) {
    ++states[item.state];
    if (!wanted.empty() && wanted != item.state) continue;
    table.add({escape_text(item.item), shaded(item.state),
               item.since ? since(*item.since) : std::string(), left_text(item), detail_of(item)});
  }
  if (!table.empty()) table.print();
  if (items.empty()) {
    std::cout << "no items\n";
    return;
  }
  std::string summary;
  for (const auto& [state, count] : states)
    summary += (summary.empty() ? ": " : ", ") + std::to_string(count) + " " + state;
  std::cout << items.size() << (items.size() == 1 ? " item" : " items") << summary << '\n';
}

}  // namespace

int items(const Options& options, Site& site) {
  const std::string& prefix = *options.prefix;
  site.must_exist(prefix);
  const std::vector<ItemState> items = read_items(site.redis(), site.keys(prefix));
  if (!options.json) {
    print_items(items, options.state);
    return done;
  }
  Json json = Json::object();
  ops::put_bytes(json, "list", prefix);
  json["items"] = Json::array();
  for (const auto& item : items)
    if (options.state.empty() || options.state == item.state)
      json["items"].push_back(to_json(item));
  print_json(json);
  return done;
}

}  // namespace w8y::app::ctl

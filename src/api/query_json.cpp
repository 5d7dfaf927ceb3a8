#include "api/query_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/json_object.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"

namespace w8y::api {

namespace {

using view::ItemView;

/// Approximate number of bytes of the runs in one response. Each run may have the end of a standard
/// error.
constexpr std::size_t max_run_bytes = std::size_t{8} << 20;
/// Bytes reserved for the end of a response, behind its runs.
constexpr std::size_t room_for_end = 4096;
/// Number of items whose names are in the response: all items of a short list, and the items of any
/// list that are not free.
constexpr std::size_t max_names = 400;
constexpr std::size_t max_held = 500;

void put_next(core::JsonObject& json, const std::string& cursor) {
  if (cursor.empty()) return json.put_json("next", "null");
  json.put("next", cursor);
}

std::string items_array(const verbs::ItemsPage& page) {
  return core::json_array(
      page.items, [&page](const ItemView& item) { return view::to_json(item, *page.kind); });
}

template <class View>
std::string page_json(const char* name, const verbs::ListsPage<View>& page) {
  core::AsciiObject json(1024);
  json.put_json(name,
                core::json_array(page.lists, [](const View& list) { return view::to_json(list); }));
  put_next(json, page.next);
  return json.finish();
}

char letter_of(const ItemView& item) {
  return item.state == "delayed" ? 'd' : item.state.front();
}

/// Order of items: running items first, then quarantined items, then all others.
int rank_of(const ItemView& item) {
  const char letter = letter_of(item);
  return letter == 'r' ? 0 : letter == 'q' ? 1 : 2;
}

std::string held_json(const std::vector<ItemView>& items) {
  std::vector<std::size_t> held;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (letter_of(items[i]) != 'f') held.push_back(i);
  std::stable_sort(held.begin(), held.end(), [&items](std::size_t a, std::size_t b) {
    return rank_of(items[a]) < rank_of(items[b]);
  });
  core::JsonArray array;
  for (std::size_t i = 0; i < std::min(held.size(), max_held); ++i)
    array.add(view::ring_json(items[held[i]], held[i]));
  return array.finish();
}

}  // namespace

std::string items_json(const std::string& list, const verbs::ItemsPage& page) {
  core::AsciiObject json(256);
  json.put_bytes("list", list);
  json.put("length", page.length);
  json.put_json("items", items_array(page));
  put_next(json, page.next);
  return json.finish();
}

std::string item_json(const std::string& list, const verbs::ItemDetail& found) {
  core::AsciiObject json(1024);
  json.put_bytes("list", list);
  if (found.key_prefix) json.put_bytes("key_prefix", *found.key_prefix);
  view::put_fields(json, found.item, *found.kind);
  json.put_json("runs", core::json_array(found.runs, [](const view::RunRecord& run) {
                  return view::to_json(run);
                }));
  json.put_json("changes", core::json_array(found.changes, [](const view::ItemChange& change) {
                  return view::to_json(change);
                }));
  return json.finish();
}

std::string schedules_json(const verbs::ListsPage<view::ScheduleView>& page) {
  return page_json("schedules", page);
}

std::string feeds_json(const verbs::ListsPage<view::FeedView>& page) {
  return page_json("feeds", page);
}

std::string schedule_json(const verbs::ScheduleDetail& found) {
  core::AsciiObject json(1024);
  json.put_json("schedule", view::to_json(found.schedule));
  json.put_json("jobs", items_array(found.jobs));
  put_next(json, found.jobs.next);
  return json.finish();
}

std::string ring_json(const std::string& list, const verbs::Ring& ring) {
  core::JsonArray pieces;
  for (const verbs::Ring::Piece& piece : ring.pieces)
    pieces.add("[" + std::to_string(piece.first) + "," + std::to_string(piece.count) + "]");
  std::string states;
  for (const ItemView& item : ring.items) states += letter_of(item);
  core::JsonObject json(ring.items.size() + 1024);
  json.put_bytes("list", list);
  json.put("now_ms", ring.now.count());
  json.put("length", ring.length);
  json.put("examined", ring.items.size());
  json.put("sampled", ring.sampled());
  json.put_json("segments", pieces.finish());
  json.put_json("rotation", ring.rotation ? std::to_string(*ring.rotation) : "null");
  json.put("ring", states);
  json.put_json("locked", held_json(ring.items));
  if (ring.items.size() <= max_names)
    json.put_json("items", core::json_array(ring.items, view::ring_name));
  std::string text = json.finish();
  text.pop_back();
  return text;
}

std::string runs_json(verbs::QueryContext& query, const std::optional<std::string>& list,
                      const verbs::RunFilter& filter, const verbs::PageRequest& part) {
  std::string text = R"({"runs":[)";
  bool first = true;
  const std::string next = verbs::list_runs(query, list, filter, part, [&](view::RunRecord&& run) {
    const std::string shown = view::to_json(run);
    run = {};
    // A run may be large. The reserved bytes keep the response from being copied for its end.
    if (shown.size() > text.capacity() - text.size())
      text.reserve(text.size() + shown.size() + room_for_end);
    text.append(std::exchange(first, false) ? "" : ",").append(shown);
    return text.size() < max_run_bytes;
  });
  return text.append("],\"next\":").append(next.empty() ? "null" : "\"" + next + "\"").append("}");
}

std::string fleet_json(const verbs::QueryContext& query, const verbs::FleetWish& wish) {
  verbs::FleetWalk walk(query, wish);
  core::AsciiObject head(256);
  view::put_fleet(head, walk.fleet());
  std::string text = head.finish();
  text.pop_back();  // the final }
  text += ",\"hosts\":[";
  bool first = true;
  while (text.size() < max_fleet_bytes / 2) {
    auto host = walk.next();
    if (!host) break;
    if (!std::exchange(first, false)) text += ',';
    text += view::to_json(std::move(*host), wish.lists || wish.list, verbs::max_host_bytes);
  }
  const std::string next = walk.cursor();
  return text.append("],\"next\":").append(next.empty() ? "null" : "\"" + next + "\"").append("}");
}

}  // namespace w8y::api

#include "ops/live_row.hpp"

#include <algorithm>
#include <cstdint>

#include "core/json_object.hpp"
#include "ops/status_json.hpp"

namespace w8y::ops {

namespace {

/// Runs of a list, and bytes of each of their items: those of one list are asked for where it is
/// looked at.
constexpr std::size_t most_live_runs = 8;
constexpr std::size_t most_live_item = 160;

ShownItem shortened(const ShownItem& item) {
  std::string_view text = item.beginning;
  if (text.size() <= most_live_item) return item;
  std::size_t end = most_live_item;
  while (end > most_live_item - 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  ShownItem result;
  result.beginning = text.substr(0, end);
  result.length = item.length;
  return result;
}

std::string runs_text(const ListStatus& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(list.runs.size(), most_live_runs); ++i) {
    RunStatus run = list.runs[i];
    run.item = shortened(run.item);
    text.append(i > 0 ? "," : "").append(dump(to_json(run)));
  }
  return text + "]";
}

std::string counters_text(const RunCounters& counters) {
  core::JsonObject json(128);
  const auto put = [&json](const char* name, std::uint64_t count) {
    if (count > 0) json.put_json(name, std::to_string(count));
  };
  put("succeeded", counters.succeeded);
  put("failed", counters.failed);
  put("crashed", counters.crashed);
  put("timed_out", counters.timed_out);
  put("cancelled", counters.cancelled);
  put("lost", counters.lost);
  return json.take();
}

/// Without the time at which they were asked for: it would make each list a new one with each look.
void put_live_figures(core::JsonObject& json, const ListStatus& list) {
  const auto put_time = [&json](const char* name, WallTime time) {
    json.put(name, static_cast<std::int64_t>(time.count()));
  };
  if (list.visit_within > Duration{0})
    put_time("visit_within_ms", std::chrono::duration_cast<WallTime>(list.visit_within));
  if (!list.figures) return;
  core::JsonObject items(128);
  for (const auto& [state, count] : list.figures->items)
    items.put_json(state, std::to_string(count));
  json.put_json("items", items.take());
  if (list.figures->estimated) json.put_json("items_estimated", "true");
  if (list.figures->lap) put_time("lap_ms", *list.figures->lap);
  if (list.figures->oldest) put_time("oldest_visit_ms", *list.figures->oldest);
  if (list.figures->places_needed)
    json.put_json("places_needed", std::to_string(*list.figures->places_needed));
}

}  // namespace

std::string live_row(const ListStatus& list) {
  core::JsonObject json(256);
  const auto put_number = [&json](const char* name, auto number) {
    json.put(name, static_cast<std::int64_t>(number));
  };
  const auto put_text = [&json](const char* name, const std::string& text) {
    if (!text.empty()) json.put(name, text);
  };
  json.put_bytes("list", list.prefix);
  json.put("state", state_name(list.state));
  put_text("why", list.why);
  if (list.pause) {
    Json pause = {{"since_ms", list.pause->since.count()}, {"until_ms", list.pause->until.count()}};
    put_bytes(pause, "reason", list.pause->reason);
    put_bytes(pause, "by", list.pause->by);
    json.put_json("pause", dump(pause));
  }
  if (list.quarantined) put_number("quarantined", *list.quarantined);
  put_number("running", list.running);
  put_number("concurrency", list.concurrency);
  if (list.fleet_concurrency > 0) put_number("fleet_concurrency", list.fleet_concurrency);
  put_live_figures(json, list);
  put_text("unwritten", list.unwritten);
  if (const std::string counters = counters_text(list.counters); counters != "{}")
    json.put_json("counters", counters);
  put_text("last_error", list.last_error);
  if (list.last_error_at.count() > 0) put_number("last_error_ms", list.last_error_at.count());
  if (!list.runs.empty()) json.put_json("runs", runs_text(list));
  return json.take();
}

std::string live_host(const HostStatus& host, WallTime away) {
  Json json = to_json(host);
  json.erase("now_ms");
  json["redis"].erase("commands_sent");
  if (!host.redis.connected && away.count() > 0) json["redis"]["away_since_ms"] = away.count();
  return dump(json);
}

}  // namespace w8y::ops

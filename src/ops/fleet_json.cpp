#include "ops/fleet_json.hpp"

#include <utility>

namespace w8y::ops {

namespace {

Json fleet_time(WallTime time) {
  return time.count() == 0 ? Json() : Json(time.count());
}

Json fleet_margin(const std::optional<WallTime>& margin) {
  return margin ? Json(margin->count()) : Json();
}

}  // namespace

Json to_json(const ListBeat& list) {
  Json json = Json::object();
  put_bytes(json, "list", list.prefix);
  json["state"] = list.state;
  json["why"] = list.why;
  json["program"] = list.program;
  json["caps"] = list.caps;
  json["executor_version"] = list.executor_version;
  json["running"] = list.running;
  json["concurrency"] = list.concurrency;
  json["fleet_concurrency"] = list.fleet_concurrency;
  json["weight"] = list.weight;
  json["enabled"] = list.enabled;
  return json;
}

Json to_json(const FleetHost& host, bool lists) {
  const HostBeat& beat = host.beat;
  Json json = Json::object();
  put_bytes(json, "host", beat.host);
  put_bytes(json, "host_id", beat.id);
  json["state"] = host.state();
  json["last_beat_ms"] = host.last_beat.count();
  json["silent_since_ms"] = host.silent ? Json(host.last_beat.count()) : Json();
  json["trouble"] = host.trouble;
  json["pid"] = beat.pid;
  json["version"] = beat.version;
  json["started_ms"] = fleet_time(beat.started);
  json["config_hash"] = beat.config_hash;
  json["generation"] = beat.generation;
  json["applied_ms"] = fleet_time(beat.applied);
  json["behind"] = host.behind;
  json["shares_name"] = host.shares_name;
  json["processors"] = beat.processors;
  json["slots"] = {{"limit", beat.slots_limit}, {"used", beat.slots_used}};
  json["lease_margin_ms"] = fleet_margin(beat.lease_margin);
  json["least_lease_margin_ms"] = fleet_margin(beat.least_lease_margin);
  if (!lists) return json;
  json["lists_trouble"] = host.lists_trouble;
  json["lists"] = Json::array();
  for (const ListBeat& list : host.lists) json["lists"].push_back(to_json(list));
  return json;
}

std::string to_text(const FleetView& view, bool lists) {
  Json head = {{"now_ms", view.now.count()}, {"newest_hash", view.newest_hash}, {"cut", view.cut}};
  put_bytes(head, "fleet", view.fleet);
  std::string text = dump(head);
  text.pop_back();  // its }
  text += ",\"hosts\":[";
  const char* gap = "";
  for (const FleetHost& host : view.hosts) {
    text.append(gap).append(dump(to_json(host, lists)));
    gap = ",";
  }
  return text += "]}";
}

}  // namespace w8y::ops

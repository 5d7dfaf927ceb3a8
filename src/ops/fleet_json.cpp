#include "ops/fleet_json.hpp"

#include <algorithm>
#include <utility>

#include <w8y/number.hpp>

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

FleetHost read_fleet_host(const Json& json) {
  FleetHost host;
  const auto text = [](const Json& of, const char* name) {
    return get_bytes(of, name).value_or("");
  };
  const auto number = [](const Json& of, const char* name, auto& into) {
    using Number = std::remove_reference_t<decltype(into)>;
    const auto found = of.find(name);
    const IntegerRange range{0, range_of<Number>.max};
    if (found != of.end()) into = static_cast<Number>(read_integer(*found, range).value_or(0));
  };
  host.beat.host = text(json, "host");
  host.beat.id = text(json, "host_id");
  host.beat.state = text(json, "state");
  host.beat.config_hash = text(json, "config_hash");
  number(json, "processors", host.beat.processors);
  host.trouble = text(json, "trouble");
  host.lists_trouble = text(json, "lists_trouble");
  host.silent = host.beat.state == "silent";
  if (const auto slots = json.find("slots"); slots != json.end() && slots->is_object())
    number(*slots, "limit", host.beat.slots_limit);
  const auto lists = json.find("lists");
  if (lists == json.end() || !lists->is_array()) return host;
  for (const Json& each : *lists)
    if (auto list = parse_list_beat(text(each, "list"), dump(each)))
      host.lists.push_back(std::move(*list));
  return host;
}

Json run_json(const std::string& list, const RunStatus& run, WallTime now) {
  Json json = Json::object();
  put_bytes(json, "list", list);
  json.update(to_json(run));
  json["age_ms"] = std::max<std::int64_t>(0, (now - run.started).count());
  return json;
}

Json to_json(const FleetOutcome& outcome) {
  Json json = {{"complete", outcome.complete()}, {"now_ms", outcome.now.count()}};
  json["hosts"] = Json::array();
  for (const FleetAnswer& answer : outcome.answers) {
    Json told = Json::object();
    put_bytes(told, "host", answer.host);
    put_bytes(told, "host_id", answer.host_id);
    told["result"] = answer.result;
    told["text"] = answer.text;
    if (!answer.lines.empty()) told["lines"] = answer.lines;
    if (!answer.runs.empty()) {
      told["runs"] = Json::array();
      for (const auto& run : answer.runs) told["runs"].push_back(parse(run).value_or(Json()));
      told["more_runs"] = answer.more_runs;
    }
    if (!answer.list.empty()) told["list"] = parse(answer.list).value_or(Json());
    if (!answer.run.empty()) told["run"] = answer.run;
    json["hosts"].push_back(std::move(told));
  }
  json["missing"] = Json::array();
  for (const auto& missing : outcome.missing) {
    Json told = Json::object();
    put_bytes(told, "host", missing.host);
    put_bytes(told, "host_id", missing.host_id);
    told["silent"] = missing.silent;
    told["last_beat_ms"] = missing.last_beat.count();
    json["missing"].push_back(std::move(told));
  }
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

#include "ops/fleet_json.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "core/number.hpp"

namespace w8y::ops {

namespace {

/// Bytes of hosts that pages are sent.
constexpr std::size_t most_glance = std::size_t{128} << 10;

Json fleet_time(WallTime time) {
  return time.count() == 0 ? Json() : Json(time.count());
}

Json fleet_margin(const std::optional<WallTime>& margin) {
  return margin ? Json(margin->count()) : Json();
}

}  // namespace

std::string list_text(const ListBeat& list) {
  core::JsonObject json(384);
  json.put_bytes("list", list.prefix);
  json.put("state", list.state);
  json.put("why", list.why);
  json.put("program", list.program);
  json.put_json("caps", dump(list.caps));
  json.put("executor_version", list.executor_version);
  json.put("running", static_cast<std::int64_t>(list.running));
  json.put("concurrency", static_cast<std::int64_t>(list.concurrency));
  json.put("fleet_concurrency", static_cast<std::int64_t>(list.fleet_concurrency));
  json.put("weight", static_cast<std::int64_t>(list.weight));
  json.put_json("enabled", list.enabled ? "true" : "false");
  return json.take();
}

std::string list_row(const ListBeat& list) {
  core::JsonObject json(128);
  json.put_bytes("list", list.prefix);
  json.put("state", list.state);
  if (!list.why.empty()) json.put("why", list.why);
  json.put("running", static_cast<std::int64_t>(list.running));
  json.put("concurrency", static_cast<std::int64_t>(list.concurrency));
  return json.take();
}

Json to_json(const FleetHost& host) {
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

Json to_json(const FleetView& view) {
  Json json = {{"now_ms", view.now.count()}, {"newest_hash", view.newest_hash}, {"cut", view.cut}};
  put_bytes(json, "fleet", view.fleet);
  return json;
}

FleetGlance glance_of(const FleetView& view) {
  FleetGlance glance;
  glance.trouble = view.trouble;
  std::string hosts;
  for (const FleetHost& host : view.hosts) {
    std::string text = dump(to_json(host));
    if (hosts.size() + text.size() > most_glance) break;
    hosts.append(hosts.empty() ? "" : ",").append(text);
    glance.hosts.push_back({host.beat.id, host.beat.lists_version, host.beat.slots_used,
                            host.silent, host.trouble.empty()});
  }
  Json head = to_json(view);
  head.erase("now_ms");  // each event has the time
  const std::size_t more = view.hosts.size() - glance.hosts.size();
  head["more_hosts"] = more;
  head["trouble"] = view.trouble.empty() && more > 0
                        ? std::to_string(more) + " more hosts are not shown; see w8yctl fleet"
                        : view.trouble;
  glance.text = dump(head);
  glance.text.pop_back();  // its }
  glance.text += ",\"hosts\":[" + hosts + "]}";
  return glance;
}

}  // namespace w8y::ops

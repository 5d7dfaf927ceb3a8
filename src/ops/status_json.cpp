#include "ops/status_json.hpp"

#include <utility>

#include "core/base64.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/json_text.hpp"

namespace w8y::ops {

namespace {

/// Bytes of the text of a list's status.
constexpr std::size_t usual_length = 512;

Json time_or_null(WallTime time) {
  return time.count() == 0 ? Json() : Json(time.count());
}

Json milliseconds_or_null(const std::optional<Duration>& time) {
  if (!time) return {};
  return std::chrono::duration_cast<std::chrono::milliseconds>(*time).count();
}

Json to_json(const Progress& progress) {
  return {{"numerator", progress.numerator}, {"denominator", progress.denominator}};
}

std::string to_text(const RunCounters& counters) {
  core::JsonObject json(usual_length);
  const auto put = [&json](const char* name, std::uint64_t count) {
    json.put_json(name, std::to_string(count));
  };
  put("claimed", counters.claimed);
  put("succeeded", counters.succeeded);
  put("failed", counters.failed);
  put("crashed", counters.crashed);
  put("timed_out", counters.timed_out);
  put("cancelled", counters.cancelled);
  put("lost", counters.lost);
  put("bad_lines", counters.bad_lines);
  put("leases_lost", counters.leases_lost);
  return json.take();
}

Json to_json(const Pause& pause) {
  Json json = Json::object();
  put_bytes(json, "reason", pause.reason);
  put_bytes(json, "by", pause.by);
  json["since_ms"] = time_or_null(pause.since);
  json["until_ms"] = time_or_null(pause.until);
  return json;
}

void put_run(Json& object, const RunRef& of) {
  put_bytes(object, "list", of.prefix);
  object["run"] = of.run;
  put_item(object, of.item);
}

/// Adds the fields of one kind of event.
struct EventFields {
  Json& object;

  void operator()(const RunStarted& event) const {
    put_run(object, event.of);
    object["pid"] = event.pid;
    object["attempt"] = event.attempt;
    if (event.fence) object["fence"] = *event.fence;
  }
  void operator()(const RunProgressed& event) const {
    put_run(object, event.of);
    object.update(to_json(event.progress));
  }
  void operator()(const RunUpdated& event) const {
    put_run(object, event.of);
    object["data"] = parse(event.data).value_or(Json());
  }
  void operator()(const RunEnded& event) const {
    put_run(object, event.of);
    object["outcome"] = outcome_name(event.outcome);
    object["reason"] = outcome_reason(event.outcome);
    object["took_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(event.took).count();
  }
  void operator()(const LeaseChanged& event) const {
    put_run(object, event.of);
    object["held"] = event.held;
  }
  void operator()(const ListChanged& event) const {
    put_bytes(object, "list", event.prefix);
    object["state"] = state_name(event.state);
    object["why"] = event.why;
  }
  void operator()(const ShortageChanged& event) const {
    put_bytes(object, "list", event.of.prefix);
    object["state"] = state_name(event.over ? ListState::running : ListState::starved);
    object["why"] = event.reason;
  }
  void operator()(const HostReady&) const {
    object["state"] = state_name(HostState::running);
    object["why"] = "";
  }
  void operator()(const HostChanged& event) const {
    object["state"] = state_name(event.state);
    object["why"] = event.why;
  }
  void operator()(const Reloaded& event) const {
    object["applied"] = event.applied;
    object["generation"] = event.generation;
    object["text"] = event.text;
  }
  void operator()(const RedisChanged& event) const {
    object["connected"] = event.connected;
    object["trouble"] = event.trouble;
  }
  /// The API does not tell it.
  template <typename Other>
  void operator()(const Other&) const {}
};

}  // namespace

void put_bytes(Json& object, const std::string& name, std::string_view bytes) {
  if (is_utf8(bytes)) {
    object[name] = bytes;
  } else {
    object[name + "_base64"] = base64_encode(bytes);
  }
}

void put_item(Json& object, const ItemView& item) {
  put_bytes(object, "item", item.beginning);
  if (item.cut()) object["item_length"] = item.length;
}

std::optional<std::string> get_bytes(const Json& object, const std::string& name) {
  if (!object.is_object()) return std::nullopt;
  const auto plain = object.find(name);
  const auto coded = object.find(name + "_base64");
  if ((plain == object.end()) == (coded == object.end())) return std::nullopt;
  const Json& value = plain != object.end() ? *plain : *coded;
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  return plain != object.end() ? std::optional(text) : base64_decode(text);
}

Json to_json(const RunStatus& run) {
  Json json = {{"run", run.run}};
  put_item(json, run.item);
  json["state"] = state_name(run.state);
  json["pid"] = run.pid;
  json["started_ms"] = time_or_null(run.started);
  json["attempt"] = run.attempt;
  if (run.fence) json["fence"] = *run.fence;
  json["progress"] = run.progress ? to_json(*run.progress) : Json();
  json["lease_lost"] = run.lease_lost;
  return json;
}

/// What Redis was asked of it: nothing, where nobody has.
void put_figures(core::JsonObject& json, const ListStatus& list) {
  const auto put_time = [&json](const char* name, WallTime time) {
    json.put(name, static_cast<std::int64_t>(time.count()));
  };
  const auto put_count = [&json](const char* name, const std::optional<std::uint64_t>& count) {
    if (count) json.put_json(name, std::to_string(*count));
  };
  if (list.visit_within > Duration{0})
    put_time("visit_within_ms", std::chrono::duration_cast<WallTime>(list.visit_within));
  if (!list.figures) return;
  const ListFigures& figures = *list.figures;
  core::JsonObject items(usual_length);
  for (const auto& [state, count] : figures.items) items.put_json(state, std::to_string(count));
  json.put_json("items", items.take());
  json.put_json("items_estimated", figures.estimated ? "true" : "false");
  put_time("items_at_ms", figures.at);
  if (figures.lap) put_time("lap_ms", *figures.lap);
  if (figures.oldest) put_time("oldest_visit_ms", *figures.oldest);
  put_count("fleet_places", figures.places);
  put_count("places_needed", figures.places_needed);
}

/// When each quarter of an hour began, and the lap in it.
std::string laps_text(const std::vector<LapAt>& laps) {
  constexpr std::int64_t quarter_ms = std::int64_t{15} * 60 * 1000;
  std::string text = "[";
  for (const LapAt& each : laps) {
    core::JsonObject json(64);
    json.put("at_ms", each.quarter * quarter_ms);
    json.put("lap_ms", static_cast<std::int64_t>(each.lap.count()));
    text.append(text.size() > 1 ? "," : "").append(json.take());
  }
  return text += ']';
}

std::string to_text(const ListStatus& list, bool laps) {
  core::JsonObject json(usual_length);
  const auto put_number = [&json](const char* name, auto number) {
    json.put(name, static_cast<std::int64_t>(number));
  };
  json.put_bytes("list", list.prefix);
  json.put("state", state_name(list.state));
  json.put("why", list.why);
  json.put_json("pause", list.pause ? dump(to_json(*list.pause)) : "null");
  json.put_json("quarantined", list.quarantined ? std::to_string(*list.quarantined) : "null");
  put_figures(json, list);
  if (laps && list.figures && !list.figures->laps.empty())
    json.put_json("laps", laps_text(list.figures->laps));
  json.put("program", list.program);
  json.put_json("caps", list.caps.empty() ? "[]" : dump(list.caps));
  json.put("executor_version", list.executor_version);
  put_number("running", list.running);
  put_number("concurrency", list.concurrency);
  put_number("fleet_concurrency", list.fleet_concurrency);
  put_number("weight", list.weight);
  if (list.look_within)
    put_number("look_within_ms",
               std::chrono::duration_cast<std::chrono::milliseconds>(*list.look_within).count());
  json.put("unwritten", list.unwritten);
  json.put_json("counters", to_text(list.counters));
  json.put("last_error", list.last_error);
  json.put_json("last_error_ms", dump(time_or_null(list.last_error_at)));
  std::string runs = "[";
  for (const RunStatus& run : list.runs) runs += (runs.size() > 1 ? "," : "") + dump(to_json(run));
  json.put_json("runs", runs += ']');
  return json.take();
}

Json to_json(const Problem& problem) {
  Json json = {{"kind", kind_name(problem.kind)}, {"text", problem.text}};
  json["lists"] = problem.lists;
  json["first_lists"] = Json::array();
  for (const auto& prefix : problem.first) {
    Json list = Json::object();
    put_bytes(list, "list", prefix);
    json["first_lists"].push_back(std::move(list));
  }
  json["count"] = problem.count;
  return json;
}

Json to_json(const HostStatus& host) {
  Json json = {{"host", host.host},
               {"host_id", host.host_id},
               {"pid", host.pid},
               {"version", host.version},
               {"state", state_name(host.state)},
               {"started_ms", time_or_null(host.started)},
               {"now_ms", time_or_null(host.now)},
               {"config_hash", host.config_hash},
               {"generation", host.generation},
               {"last_reload", host.last_reload},
               {"last_reload_ms", time_or_null(host.last_reload_at)},
               {"last_reload_failed", host.last_reload_failed}};
  json["has_redis"] = host.has_redis;
  json["gearman"] = Json::array();
  for (const GearmanStatus& server : host.gearman)
    json["gearman"].push_back(
        {{"server", server.server},
         {"lists", server.lists},
         {"connected", server.connected},
         {"trouble", server.trouble},
         {"away_since_ms", time_or_null(server.away_since.value_or(WallTime{0}))},
         {"jobs", server.jobs}});
  json["redis"] = {{"url", host.redis.url},
                   {"connected", host.redis.connected},
                   {"trouble", host.redis.trouble},
                   {"away_since_ms", time_or_null(host.redis.away_since.value_or(WallTime{0}))},
                   {"commands_sent", host.redis.commands_sent},
                   {"leases", host.redis.leases},
                   {"lease_margin_ms", milliseconds_or_null(host.redis.lease_margin)},
                   {"least_lease_margin_ms", milliseconds_or_null(host.redis.least_lease_margin)}};
  json["slots"] = {{"limit", host.slots_limit}, {"used", host.slots_used}};
  return json;
}

Json to_json(const ConfigText& config) {
  Json json = {
      {"redis", config.redis}, {"gearman", config.gearman}, {"supervisor", config.supervisor}};
  json["lists"] = Json::array();  // not an object: a prefix may be bytes that no key can hold
  for (const auto& [prefix, settings] : config.lists) {
    Json list = Json::object();
    put_bytes(list, "list", prefix);
    list["settings"] = settings;
    json["lists"].push_back(std::move(list));
  }
  return json;
}

const char* kind_name(ControlResult::Kind kind) {
  switch (kind) {
    case ControlResult::Kind::done:
      return "done";
    case ControlResult::Kind::accepted:
      return "accepted";
    case ControlResult::Kind::not_found:
      return "not_found";
    case ControlResult::Kind::refused:
      return "refused";
    case ControlResult::Kind::invalid:
      return "invalid";
    case ControlResult::Kind::unavailable:
      return "unavailable";
  }
  return "?";
}

Json to_json(const ControlResult& result) {
  Json json = {{"result", kind_name(result.kind)}, {"text", result.text}};
  if (!result.lines.empty()) json["lines"] = result.lines;
  if (!result.run.empty()) json["run"] = result.run;
  return json;
}

Json to_json(const Event& event, WallTime now) {
  const char* name = event_name(event);
  Json json = {{"type", name != nullptr ? name : ""}, {"time_ms", now.count()}};
  std::visit(EventFields{json}, event);
  return json;
}

std::optional<Json> parse(std::string_view text, std::size_t max_values) {
  // Before it is parsed: a callback for each value would take longer than all the rest.
  const json_text::Shape shape = json_text::shape(text);
  if (shape.depth > max_depth || shape.values > max_values) return std::nullopt;
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace w8y::ops

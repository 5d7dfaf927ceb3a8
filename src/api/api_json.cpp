#include "api/api_json.hpp"

#include "core/json_text.hpp"
#include "view/field.hpp"
#include "view/run_view.hpp"

namespace w8y::api {

namespace {

void put_progress(core::JsonObject& object, const Progress& progress) {
  object.put_json("numerator", view::real_json(progress.numerator));
  object.put_json("denominator", view::real_json(progress.denominator));
}

void put_run(core::JsonObject& object, const RunRef& of) {
  object.put_bytes("list", of.prefix);
  object.put("run", of.run);
  view::put_item(object, "item", of.item.copy());
}

/// Adds the fields of one kind of event.
struct EventFields {
  core::JsonObject& object;

  void operator()(const RunStarted& event) const {
    put_run(object, event.of);
    object.put("pid", event.pid);
    object.put("attempt", event.attempt);
    if (event.fence) object.put("fence", *event.fence);
  }
  void operator()(const RunProgressed& event) const {
    put_run(object, event.of);
    put_progress(object, event.progress);
  }
  void operator()(const RunUpdated& event) const {
    put_run(object, event.of);
    object.put_json("data",
                    json_text::error(event.data) ? "null" : json_text::one_line(event.data));
  }
  void operator()(const RunEnded& event) const {
    put_run(object, event.of);
    object.put("outcome", outcome_name(event.outcome));
    object.put("reason", outcome_reason(event.outcome));
    object.put("duration_ms",
               std::chrono::duration_cast<std::chrono::milliseconds>(event.duration).count());
  }
  void operator()(const LeaseChanged& event) const {
    put_run(object, event.of);
    object.put("held", event.held);
  }
  void operator()(const ListChanged& event) const {
    object.put_bytes("list", event.prefix);
    object.put("state", state_name(event.state));
    object.put("reason", event.why);
  }
  void operator()(const ShortageChanged& event) const {
    object.put_bytes("list", event.of.prefix);
    object.put("state", state_name(event.ended ? ListState::running : ListState::starved));
    object.put("reason", event.reason);
  }
  void operator()(const BreakerChanged& event) const {
    object.put_bytes("list", event.of.prefix);
    object.put("state", state_name(event.ended ? ListState::running : ListState::breaker_open));
    object.put("reason", event.reason);
  }
  void operator()(const HostReady&) const {
    object.put("state", state_name(HostState::running));
    object.put("reason", "");
  }
  void operator()(const HostChanged& event) const {
    object.put("state", state_name(event.state));
    object.put("reason", event.why);
  }
  void operator()(const Reloaded& event) const {
    object.put("applied", event.applied);
    object.put("generation", event.generation);
    object.put("text", event.text);
  }
  void operator()(const RedisChanged& event) const {
    object.put("connected", event.connected);
    object.put("error", event.error);
  }
  /// The API does not report other events.
  template <typename Other>
  void operator()(const Other&) const {}
};

std::string settings_json(const Settings& settings) {
  std::string text = "{";
  for (const auto& [key, value] : settings)
    text.append(text.size() > 1 ? "," : "")
        .append(core::json_string(key))
        .append(":")
        .append(core::json_string(value));
  return text += '}';
}

}  // namespace

std::string to_json(const ConfigText& config) {
  core::AsciiObject json(4096);
  json.put_json("redis", settings_json(config.redis));
  json.put_json("gearman", settings_json(config.gearman));
  json.put_json("supervisor", settings_json(config.supervisor));
  // An array, because the name of a member cannot hold all bytes that a prefix can.
  json.put_json("lists", core::json_array(config.lists, [](const auto& list) {
                  core::AsciiObject one;
                  one.put_bytes("list", list.first);
                  one.put_json("settings", settings_json(list.second));
                  return one.finish();
                }));
  return json.finish();
}

const char* kind_name(CommandResult::Kind kind) {
  constexpr std::array names = {"done",    "accepted", "not_found",
                                "refused", "invalid",  "unavailable"};
  return names.at(static_cast<std::size_t>(kind));
}

void put_result(core::JsonObject& json, const CommandResult& result) {
  json.put("result", kind_name(result.kind));
  json.put("text", result.text);
  if (!result.lines.empty()) json.put_json("lines", view::texts_json(result.lines));
  if (!result.run.empty()) json.put("run", result.run);
}

std::string to_json(const Event& event, WallTime now) {
  const char* name = event_name(event);
  core::AsciiObject json;
  json.put("type", name != nullptr ? name : "");
  json.put("time_ms", now.count());
  std::visit(EventFields{json}, event);
  return json.finish();
}

}  // namespace w8y::api

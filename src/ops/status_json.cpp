#include "ops/status_json.hpp"

#include <utility>

#include "core/base64.hpp"
#include "core/escape.hpp"
#include "core/json_text.hpp"

namespace w8y::ops {

namespace {

Json to_json(const Progress& progress) {
  return {{"numerator", progress.numerator}, {"denominator", progress.denominator}};
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

void put_item(Json& object, const ItemRef& item) {
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

// Beats, orders and answers as JSON. Read without trust: others may write these keys and channels.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "core/base64.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/json_text.hpp"
#include "core/number.hpp"
#include "view/fleet.hpp"
#include "view/fleet_orders.hpp"

namespace w8y {

namespace {

using FleetJson = nlohmann::json;

/// Bytes of a text in a beat, and of all capabilities together.
constexpr std::size_t max_beat_text = 256;
constexpr std::size_t max_beat_why = 512;
constexpr std::size_t max_beat_caps = 1024;
constexpr std::size_t max_order_id = 64;

/// Its first bytes, which don't end within a character. What is no UTF-8 becomes \xNN.
std::string beat_text(std::string_view text, std::size_t most = max_beat_text) {
  // Each byte of an escape may be two in JSON.
  return is_utf8(text) && text.size() <= most / 2 ? std::string(text) : escape(text, most / 2);
}

std::optional<FleetJson> fleet_object(std::string_view text, std::size_t most) {
  if (text.size() > most || json_text::mistake(text)) return std::nullopt;
  FleetJson json = FleetJson::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

/// Members of an object; what is not there, or of another kind, is empty or 0.
struct FleetFields {
  const FleetJson& json;

  [[nodiscard]] std::string text(const char* name) const {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  }
  template <typename Number>
  [[nodiscard]] Number number(const char* name) const {
    const auto found = json.find(name);
    if (found == json.end()) return 0;
    constexpr IntegerRange range{0, range_of<Number>.max};
    return static_cast<Number>(read_integer(*found, range).value_or(0));
  }
  [[nodiscard]] WallTime time(const char* name) const {
    return time_in(name, ms_range).value_or(WallTime{0});
  }
  [[nodiscard]] std::optional<WallTime> margin(const char* name) const {
    return time_in(name, signed_ms_range);
  }
  [[nodiscard]] bool flag(const char* name) const {
    const auto found = json.find(name);
    return found != json.end() && found->is_boolean() && found->get<bool>();
  }
  /// As JsonObject::put_bytes() writes them.
  [[nodiscard]] std::string bytes(const char* name) const {
    const std::string coded = text((std::string(name) + "_base64").c_str());
    return coded.empty() ? text(name) : base64_decode(coded).value_or("");
  }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> all;
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array()) return all;
    for (const auto& each : *found)
      if (each.is_string()) all.push_back(each.get<std::string>());
    return all;
  }

 private:
  [[nodiscard]] std::optional<WallTime> time_in(const char* name, IntegerRange range) const {
    const auto found = json.find(name);
    return found == json.end() ? std::nullopt : read_ms(*found, range);
  }
};

std::string texts_json(const std::vector<std::string>& all) {
  return FleetJson(all).dump(-1, ' ', false, FleetJson::error_handler_t::replace);
}

void put_count(core::JsonObject& json, const char* name, std::uint64_t number) {
  json.put_json(name, std::to_string(number));
}

void put_maybe(core::JsonObject& json, const char* name, const std::optional<WallTime>& time) {
  json.put_json(name, time ? std::to_string(time->count()) : "null");
}

std::vector<std::string> some_caps(const std::vector<std::string>& caps) {
  std::vector<std::string> some;
  std::size_t bytes = 0;
  for (const auto& cap : caps) {
    std::string text = beat_text(cap);
    bytes += text.size() + 4;
    if (bytes > max_beat_caps) break;
    some.push_back(std::move(text));
  }
  return some;
}

bool is_order_id(std::string_view id) {
  const auto fit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  return !id.empty() && id.size() <= max_order_id && std::all_of(id.begin(), id.end(), fit);
}

constexpr std::pair<OrderKind, const char*> order_names[] = {
    {OrderKind::quiet, "quiet"},   {OrderKind::resume, "resume"}, {OrderKind::drain, "drain"},
    {OrderKind::reload, "reload"}, {OrderKind::cancel, "cancel"}, {OrderKind::run, "run"},
    {OrderKind::runs, "runs"},     {OrderKind::logs, "logs"}};

const OrderKind* order_kind(std::string_view name) {
  for (const auto& [kind, known] : order_names)
    if (name == known) return &kind;
  return nullptr;
}

}  // namespace

// ---- beats

std::string to_text(const HostBeat& beat) {
  core::JsonObject json(max_beat / 4);
  json.put("host", beat_text(beat.host));
  json.put("pid", beat.pid);
  json.put("version", beat_text(beat.version));
  json.put("state", beat.state);
  json.put("started_ms", beat.started.count());
  json.put("config_hash", beat_text(beat.config_hash));
  put_count(json, "generation", beat.generation);
  json.put("applied_ms", beat.applied.count());
  put_count(json, "processors", beat.processors);
  put_count(json, "slots_used", beat.slots_used);
  put_count(json, "slots_limit", beat.slots_limit);
  put_maybe(json, "lease_margin_ms", beat.lease_margin);
  put_maybe(json, "least_lease_margin_ms", beat.least_lease_margin);
  put_count(json, "lists_version", beat.lists_version);
  return json.take();
}

std::optional<HostBeat> parse_beat(std::string_view text) {
  const auto json = fleet_object(text, max_beat);
  if (!json) return std::nullopt;
  const FleetFields fields{*json};
  HostBeat beat;
  beat.host = fields.text("host");
  beat.state = fields.text("state");
  if (beat.host.empty() || beat.state.empty()) return std::nullopt;
  beat.pid = fields.number<int>("pid");
  beat.version = fields.text("version");
  beat.started = fields.time("started_ms");
  beat.config_hash = fields.text("config_hash");
  beat.generation = fields.number<std::uint64_t>("generation");
  beat.applied = fields.time("applied_ms");
  beat.processors = fields.number<unsigned>("processors");
  beat.slots_used = fields.number<std::size_t>("slots_used");
  beat.slots_limit = fields.number<std::size_t>("slots_limit");
  beat.lease_margin = fields.margin("lease_margin_ms");
  beat.least_lease_margin = fields.margin("least_lease_margin_ms");
  beat.lists_version = fields.number<std::uint64_t>("lists_version");
  return beat;
}

std::string to_text(const ListBeat& beat) {
  core::JsonObject json(256);
  json.put("state", beat.state);
  json.put("why", beat_text(beat.why, max_beat_why));
  json.put("program", beat_text(beat.program, max_beat_why));
  json.put_json("caps", texts_json(some_caps(beat.caps)));
  json.put("executor_version", beat_text(beat.executor_version));
  put_count(json, "running", beat.running);
  put_count(json, "concurrency", beat.concurrency);
  put_count(json, "fleet_concurrency", beat.fleet_concurrency);
  put_count(json, "weight", beat.weight);
  json.put_json("enabled", beat.enabled ? "true" : "false");
  return json.take();
}

std::optional<ListBeat> parse_list_beat(std::string_view prefix, std::string_view text) {
  const auto json = fleet_object(text, max_beat);
  if (!json) return std::nullopt;
  const FleetFields fields{*json};
  ListBeat beat;
  beat.prefix = prefix;
  beat.state = fields.text("state");
  if (beat.state.empty()) return std::nullopt;
  beat.why = fields.text("why");
  beat.program = fields.text("program");
  beat.caps = fields.texts("caps");
  beat.executor_version = fields.text("executor_version");
  beat.running = fields.number<std::size_t>("running");
  beat.concurrency = fields.number<unsigned>("concurrency");
  beat.fleet_concurrency = fields.number<unsigned>("fleet_concurrency");
  beat.weight = fields.number<unsigned>("weight");
  beat.enabled = fields.flag("enabled");
  return beat;
}

// ---- orders

const char* order_name(OrderKind kind) {
  for (const auto& [known, name] : order_names)
    if (kind == known) return name;
  return "?";
}

std::string to_text(const FleetOrder& order) {
  core::JsonObject json(256);
  json.put("id", order.id);
  json.put("order", order_name(order.kind));
  if (order.host.empty()) {
    json.put_json("all", "true");
  } else {
    json.put("host", order.host);
  }
  json.put("by", order.by);
  json.put("until_ms", order.until.count());
  if (!order.run.empty()) json.put_bytes("run", order.run);
  if (order.list) json.put_bytes("list", *order.list);
  if (order.kind == OrderKind::run) json.put_bytes("item", order.item);
  if (!order.listener.empty()) json.put("listener", order.listener);
  return json.take();
}

std::variant<FleetOrder, BadOrder> parse_order(std::string_view text) {
  if (text.size() > max_order)
    return BadOrder{"it has " + std::to_string(text.size()) +
                    " bytes, and no order has more than " + std::to_string(max_order)};
  const auto json = fleet_object(text, max_order);
  if (!json) return BadOrder{"it is no JSON object"};
  const FleetFields fields{*json};
  FleetOrder order;
  order.id = fields.text("id");
  if (!is_order_id(order.id)) return BadOrder{"its id is not 1 to 64 letters, digits and '-'"};
  const std::string name = fields.text("order");
  const OrderKind* kind = order_kind(name);
  if (kind == nullptr) return BadOrder{"there is no order " + escape_text(name, max_beat_text)};
  order.kind = *kind;
  order.host = fields.text("host");
  if (order.host.empty() != fields.flag("all"))
    return BadOrder{"it names neither a host nor all, or both"};
  order.by = fields.text("by");
  order.until = fields.time("until_ms");
  order.run = fields.bytes("run");
  if (order.kind == OrderKind::cancel && order.run.empty())
    return BadOrder{"it says not which run to cancel"};
  if (json->contains("list") || json->contains("list_base64")) order.list = fields.bytes("list");
  order.item = fields.bytes("item");
  if (order.kind == OrderKind::run && !order.list) return BadOrder{"it says not of which list"};
  order.listener = fields.text("listener");
  if (!order.listener.empty() && !is_order_id(order.listener))
    return BadOrder{"its listener is not 1 to 64 letters, digits and '-'"};
  return order;
}

std::string to_text(const FleetAnswer& answer) {
  core::JsonObject json(256);
  json.put("host", answer.host);
  json.put("host_id", answer.host_id);
  json.put("result", answer.result);
  json.put("text", answer.text);
  if (!answer.lines.empty()) json.put_json("lines", texts_json(answer.lines));
  if (!answer.runs.empty()) {
    std::string runs = "[";
    for (const auto& run : answer.runs) runs.append(runs.size() > 1 ? "," : "").append(run);
    json.put_json("runs", runs += ']');
    put_count(json, "more_runs", answer.more_runs);
  }
  if (!answer.list.empty()) json.put_json("list", answer.list);
  if (!answer.run.empty()) json.put("run", answer.run);
  return json.take();
}

std::optional<FleetAnswer> parse_answer(std::string_view text) {
  const auto json = fleet_object(text, max_answer);
  if (!json) return std::nullopt;
  const FleetFields fields{*json};
  FleetAnswer answer;
  answer.host = fields.text("host");
  answer.host_id = fields.text("host_id");
  answer.result = fields.text("result");
  if (answer.host.empty() || answer.host_id.empty() || answer.result.empty()) return std::nullopt;
  answer.text = fields.text("text");
  answer.lines = fields.texts("lines");
  answer.more_runs = fields.number<std::size_t>("more_runs");
  if (const auto runs = json->find("runs"); runs != json->end() && runs->is_array())
    for (const auto& run : *runs)
      if (run.is_object() && answer.runs.size() < max_told_runs) answer.runs.push_back(run.dump());
  if (const auto list = json->find("list"); list != json->end() && list->is_object())
    answer.list = list->dump();
  answer.run = fields.text("run");
  return answer;
}

bool FleetOutcome::complete() const {
  return trouble.empty() && missing.empty() &&
         std::all_of(answers.begin(), answers.end(),
                     [](const FleetAnswer& answer) { return answer.good(); });
}

bool FleetOutcome::no_run() const {
  return trouble.empty() &&
         std::all_of(missing.begin(), missing.end(),
                     [](const Missing& host) { return host.silent; }) &&
         std::all_of(answers.begin(), answers.end(),
                     [](const FleetAnswer& answer) { return answer.runs.empty(); });
}

}  // namespace w8y

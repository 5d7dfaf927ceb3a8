// Orders and answers as JSON. Read without trust: others may write these keys and channels.
#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "view/fleet.hpp"
#include "view/fleet_commands.hpp"
#include "view/list_view.hpp"

namespace w8y {

namespace {

using view::JsonFields;

constexpr std::size_t max_order_id = 64;

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

// ---- orders

const char* order_name(OrderKind kind) {
  for (const auto& [known, name] : order_names)
    if (kind == known) return name;
  return "?";
}

std::string to_text(const FleetOrder& order) {
  core::AsciiObject json(256);
  json.put("id", order.id);
  json.put("command", order_name(order.kind));
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
  const auto json = JsonFields::parse(text, max_order);
  if (!json) return BadOrder{"it is no JSON object"};
  const JsonFields& fields = *json;
  FleetOrder order;
  order.id = fields.text("id");
  if (!is_order_id(order.id)) return BadOrder{"its id is not 1 to 64 letters, digits and '-'"};
  const std::string name = fields.text("command");
  const OrderKind* kind = order_kind(name);
  if (kind == nullptr) return BadOrder{"there is no order " + escape_text(name, 256)};
  order.kind = *kind;
  order.host = fields.text("host");
  if (order.host.empty() != fields.flag("all"))
    return BadOrder{"it names neither a host nor all, or both"};
  order.by = fields.text("by");
  order.until = fields.ms("until_ms").value_or(WallTime{0});
  order.run = fields.bytes("run").value_or("");
  if (order.kind == OrderKind::cancel && order.run.empty())
    return BadOrder{"it says not which run to cancel"};
  if (fields.has("list") || fields.has("list_base64"))
    order.list = fields.bytes("list").value_or("");
  order.item = fields.bytes("item").value_or("");
  if (order.kind == OrderKind::run && !order.list) return BadOrder{"it says not of which list"};
  order.listener = fields.text("listener");
  if (!order.listener.empty() && !is_order_id(order.listener))
    return BadOrder{"its listener is not 1 to 64 letters, digits and '-'"};
  return order;
}

// ---- answers

namespace {

void put_list(core::JsonObject& json, const HostList& list) {
  core::AsciiObject slots(64);
  slots.put("limit", list.slots_limit);
  slots.put("used", list.slots_used);
  core::AsciiObject object(256);
  view::put_fields(object, list.list, view::reply);
  object.put("host_state", list.host_state);
  object.put_json("slots", slots.take());
  json.put_json("list", object.take());
}

std::optional<HostList> read_host_list(const std::optional<JsonFields>& json) {
  auto status = json ? view::read_list(*json, view::reply) : std::nullopt;
  if (!status) return std::nullopt;
  HostList list{std::move(*status), json->text("host_state"), 0, 0};
  if (const auto slots = json->object("slots")) {
    list.slots_limit = slots->number<std::size_t>("limit");
    list.slots_used = slots->number<std::size_t>("used");
  }
  return list;
}

void put_answer(core::JsonObject& json, const FleetAnswer& answer) {
  json.put("result", answer.result);
  json.put("text", answer.text);
  if (!answer.lines.empty()) json.put_json("lines", view::texts_json(answer.lines));
  if (!answer.runs.empty()) {
    const auto one = [](const auto& run) { return view::to_json(run); };
    json.put_json("runs", core::json_array(answer.runs, one));
    json.put("omitted_runs", answer.omitted_runs);
  }
  if (answer.list) put_list(json, *answer.list);
  if (!answer.run.empty()) json.put("run", answer.run);
}

FleetAnswer read_answer(const JsonFields& fields) {
  FleetAnswer answer;
  answer.host = fields.bytes("host").value_or("");
  answer.host_id = fields.bytes("host_id").value_or("");
  answer.result = fields.text("result");
  answer.text = fields.text("text");
  answer.lines = fields.texts("lines");
  answer.omitted_runs = fields.number<std::size_t>("omitted_runs");
  for (const JsonFields& each : fields.objects("runs")) {
    if (answer.runs.size() == max_told_runs) break;
    if (auto run = view::read_run(each)) answer.runs.push_back(std::move(*run));
  }
  answer.list = read_host_list(fields.object("list"));
  answer.run = fields.text("run");
  return answer;
}

}  // namespace

std::string to_text(const FleetAnswer& answer) {
  core::AsciiObject json(256);
  json.put("host", answer.host);
  json.put("host_id", answer.host_id);
  put_answer(json, answer);
  return json.take();
}

std::optional<FleetAnswer> parse_answer(std::string_view text) {
  const auto json = JsonFields::parse(text, max_answer);
  if (!json) return std::nullopt;
  FleetAnswer answer = read_answer(*json);
  if (answer.host.empty() || answer.host_id.empty() || answer.result.empty()) return std::nullopt;
  return answer;
}

std::string to_text(const FleetOutcome& outcome) {
  core::AsciiObject json(1024);
  json.put("all_done", outcome.complete());
  json.put("now_ms", outcome.now.count());
  const auto host_json = [](const FleetAnswer& answer) {
    core::AsciiObject told(256);
    told.put_bytes("host", answer.host);
    told.put_bytes("host_id", answer.host_id);
    put_answer(told, answer);
    return told.take();
  };
  json.put_json("hosts", core::json_array(outcome.answers, host_json));
  const auto missing_json = [](const FleetOutcome::Missing& host) {
    core::AsciiObject told(128);
    told.put_bytes("host", host.host);
    told.put_bytes("host_id", host.host_id);
    told.put("unresponsive", host.silent);
    told.put("last_heartbeat_ms", host.last_beat.count());
    return told.take();
  };
  json.put_json("no_reply", core::json_array(outcome.missing, missing_json));
  return json.take();
}

std::string command_text(const FleetOutcome& outcome) {
  std::string text = to_text(outcome);
  if (outcome.complete()) return text;
  text.pop_back();  // its }
  return text += R"(,"error":"not all hosts have done it"})";
}

FleetOutcome read_outcome(const JsonFields& json) {
  FleetOutcome outcome;
  outcome.now = json.ms("now_ms").value_or(WallTime{0});
  for (const JsonFields& each : json.objects("hosts")) outcome.answers.push_back(read_answer(each));
  for (const JsonFields& each : json.objects("no_reply"))
    outcome.missing.push_back({each.bytes("host").value_or(""), each.bytes("host_id").value_or(""),
                               each.flag("unresponsive"),
                               each.ms("last_heartbeat_ms").value_or(WallTime{0})});
  return outcome;
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

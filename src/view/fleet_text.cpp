// Commands and replies as JSON. Input is untrusted, because other programs may write these keys and
// channels.
#include <algorithm>
#include <utility>

#include "core/ascii.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "view/field.hpp"
#include "view/fleet.hpp"
#include "view/fleet_commands.hpp"
#include "view/list_view.hpp"

namespace w8y {

namespace {

using view::JsonFields;

constexpr std::size_t max_command_id = 64;

bool is_command_id(std::string_view id) {
  const auto fit = [](char c) { return core::is_alnum(c) || c == '-'; };
  return !id.empty() && id.size() <= max_command_id && std::all_of(id.begin(), id.end(), fit);
}

constexpr std::pair<FleetCommandKind, const char*> command_names[] = {
    {FleetCommandKind::quiet, "quiet"},   {FleetCommandKind::resume, "resume"},
    {FleetCommandKind::drain, "drain"},   {FleetCommandKind::reload, "reload"},
    {FleetCommandKind::cancel, "cancel"}, {FleetCommandKind::run, "run"},
    {FleetCommandKind::runs, "runs"},     {FleetCommandKind::logs, "logs"}};

const FleetCommandKind* command_kind(std::string_view name) {
  for (const auto& [kind, known] : command_names)
    if (name == known) return &kind;
  return nullptr;
}

}  // namespace

// ---- commands

const char* command_name(FleetCommandKind kind) {
  for (const auto& [known, name] : command_names)
    if (kind == known) return name;
  return "?";
}

std::string to_text(const FleetCommand& order) {
  core::AsciiObject json(256);
  json.put("id", order.id);
  json.put("command", command_name(order.kind));
  if (order.host.empty()) {
    json.put_json("all", "true");
  } else {
    json.put("host", order.host);
  }
  json.put("by", order.by);
  json.put("until_ms", order.until.count());
  if (!order.run.empty()) json.put_bytes("run", order.run);
  if (order.list) json.put_bytes("list", *order.list);
  if (order.kind == FleetCommandKind::run) json.put_bytes("item", order.item);
  if (!order.listener.empty()) json.put("listener", order.listener);
  return json.finish();
}

std::variant<FleetCommand, InvalidFleetCommand> parse_command(std::string_view text) {
  if (text.size() > max_command)
    return InvalidFleetCommand{"it has " + std::to_string(text.size()) + " bytes; the limit is " +
                               std::to_string(max_command)};
  const auto json = JsonFields::parse(text, max_command);
  if (!json) return InvalidFleetCommand{"it is not a JSON object"};
  const JsonFields& fields = *json;
  FleetCommand order;
  order.id = fields.text("id");
  if (!is_command_id(order.id))
    return InvalidFleetCommand{"its id must have from 1 to 64 letters, digits and '-'"};
  const std::string name = fields.text("command");
  const FleetCommandKind* kind = command_kind(name);
  if (kind == nullptr) return InvalidFleetCommand{"there is no command " + escape_text(name, 256)};
  order.kind = *kind;
  order.host = fields.text("host");
  if (order.host.empty() != fields.flag("all"))
    return InvalidFleetCommand{"exactly one of host and all is required"};
  order.by = fields.text("by");
  order.until = fields.ms("until_ms").value_or(WallTime{0});
  order.run = fields.bytes("run").value_or("");
  if (order.kind == FleetCommandKind::cancel && order.run.empty())
    return InvalidFleetCommand{"the run to cancel is missing"};
  if (fields.has("list") || fields.has("list_base64"))
    order.list = fields.bytes("list").value_or("");
  order.item = fields.bytes("item").value_or("");
  if (order.kind == FleetCommandKind::run && !order.list)
    return InvalidFleetCommand{"the list of the item is missing"};
  order.listener = fields.text("listener");
  if (!order.listener.empty() && !is_command_id(order.listener))
    return InvalidFleetCommand{"its listener must have from 1 to 64 letters, digits and '-'"};
  return order;
}

// ---- replies

namespace {

void put_list(core::JsonObject& json, const HostList& list) {
  core::AsciiObject object(256);
  view::put_fields(object, list.list, view::reply);
  object.put("host_state", list.host_state);
  view::write_slots(object, "slots", list, view::reply);
  json.put_json("list", object.finish());
}

std::optional<HostList> read_host_list(const std::optional<JsonFields>& json) {
  auto status = json ? view::read_list(*json, view::reply) : std::nullopt;
  if (!status) return std::nullopt;
  HostList list{std::move(*status), json->text("host_state"), 0, 0};
  view::read_slots(*json, "slots", list);
  return list;
}

void put_reply(core::JsonObject& json, const FleetReply& answer) {
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

FleetReply read_reply(const JsonFields& fields) {
  FleetReply answer;
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

std::string to_text(const FleetReply& answer) {
  core::AsciiObject json(256);
  json.put("host", answer.host);
  json.put("host_id", answer.host_id);
  put_reply(json, answer);
  return json.finish();
}

std::optional<FleetReply> parse_reply(std::string_view text) {
  const auto json = JsonFields::parse(text, max_answer);
  if (!json) return std::nullopt;
  FleetReply answer = read_reply(*json);
  if (answer.host.empty() || answer.host_id.empty() || answer.result.empty()) return std::nullopt;
  return answer;
}

std::string to_text(const FleetCommandResult& outcome) {
  core::AsciiObject json(1024);
  json.put("all_done", outcome.complete());
  json.put("now_ms", outcome.now.count());
  const auto host_json = [](const FleetReply& answer) {
    core::AsciiObject told(256);
    told.put_bytes("host", answer.host);
    told.put_bytes("host_id", answer.host_id);
    put_reply(told, answer);
    return told.finish();
  };
  json.put_json("hosts", core::json_array(outcome.replies, host_json));
  const auto missing_json = [](const FleetCommandResult::NoReply& host) {
    core::AsciiObject told(128);
    told.put_bytes("host", host.host);
    told.put_bytes("host_id", host.host_id);
    told.put("unresponsive", host.unresponsive);
    told.put("last_heartbeat_ms", host.last_heartbeat.count());
    return told.finish();
  };
  json.put_json("no_reply", core::json_array(outcome.no_reply, missing_json));
  return json.finish();
}

std::string command_text(const FleetCommandResult& outcome) {
  std::string text = to_text(outcome);
  if (outcome.complete()) return text;
  text.pop_back();  // the final }
  return text += R"(,"error":"not all hosts have executed the command"})";
}

FleetCommandResult read_outcome(const JsonFields& json) {
  FleetCommandResult outcome;
  outcome.now = json.ms("now_ms").value_or(WallTime{0});
  for (const JsonFields& each : json.objects("hosts")) outcome.replies.push_back(read_reply(each));
  for (const JsonFields& each : json.objects("no_reply"))
    outcome.no_reply.push_back({each.bytes("host").value_or(""), each.bytes("host_id").value_or(""),
                                each.flag("unresponsive"),
                                each.ms("last_heartbeat_ms").value_or(WallTime{0})});
  return outcome;
}

bool FleetCommandResult::complete() const {
  return error.empty() && no_reply.empty() &&
         std::all_of(replies.begin(), replies.end(),
                     [](const FleetReply& answer) { return answer.good(); });
}

bool FleetCommandResult::no_run() const {
  return error.empty() &&
         std::all_of(no_reply.begin(), no_reply.end(),
                     [](const NoReply& host) { return host.unresponsive; }) &&
         std::all_of(replies.begin(), replies.end(),
                     [](const FleetReply& answer) { return answer.runs.empty(); });
}

}  // namespace w8y

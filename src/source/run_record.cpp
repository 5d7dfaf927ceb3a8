#include "source/run_record.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string_view>
#include <utility>

#include "core/json_object.hpp"
#include "core/json_text.hpp"

namespace w8y::source {

namespace {

using Json = nlohmann::json;

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Of an entry of the history, names and values.
constexpr std::size_t most_fields = 22;

/// Text that came out of an executor or the system, as it is if it is JSON.
std::string as_json(const std::string& text) {
  return json_text::mistake(text) ? dump(text) : text;
}

/// About as long as news are.
constexpr std::size_t usual_length = 300;

core::JsonObject head(const char* type, const Rule& rule, const RunId& run, const ShownItem& item,
                      const std::string& host, WallTime time) {
  core::JsonObject object(usual_length);
  object.put("type", type);
  object.put_bytes("list", rule.prefix);
  object.put("run", run);
  object.put_bytes("item", item.beginning);
  if (item.cut()) object.put("item_length", static_cast<std::int64_t>(item.length));
  object.put("host", host);
  object.put("time_ms", time.count());
  return object;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : std::to_string(signal);
}

std::string exit_text(const ProcessEnd& end) {
  if (const auto* exited = std::get_if<Exited>(&end)) return std::to_string(exited->code);
  if (const auto* signalled = std::get_if<Signalled>(&end)) return signal_name(signalled->signal);
  return {};
}

/// A number is one.
void put_exit(core::JsonObject& object, const ProcessEnd& end) {
  if (const auto* exited = std::get_if<Exited>(&end)) object.put("exit", exited->code);
  if (const auto* signalled = std::get_if<Signalled>(&end))
    object.put("signal", signal_name(signalled->signal));
}

}  // namespace

std::string event_json(const Rule& rule, const std::string& host, const RunEvent& event,
                       WallTime now) {
  const auto begin = [&](const char* type) {
    return head(type, rule, event.run, event.item, host, now);
  };
  switch (event.kind) {
    case RunEvent::Kind::start: {
      core::JsonObject object = begin("start");
      object.put("pid", event.pid);
      return object.take();
    }
    case RunEvent::Kind::progress: {
      core::JsonObject object = begin("progress");
      object.put_json("numerator", dump(event.progress.numerator));
      object.put_json("denominator", dump(event.progress.denominator));
      return object.take();
    }
    case RunEvent::Kind::update: {
      core::JsonObject object = begin("update");
      object.put_json("data", as_json(event.data));
      return object.take();
    }
  }
  return {};
}

std::string end_json(const std::string& host, const Settlement& settlement) {
  core::JsonObject object = head("end", *settlement.rule, settlement.claim.run,
                                 settlement.claim.item, host, settlement.ended);
  object.put("outcome", outcome_name(settlement.outcome));
  if (const std::string reason = outcome_reason(settlement.outcome); !reason.empty())
    object.put("reason", reason);
  put_exit(object, settlement.end.process);
  object.put("took_ms", (settlement.ended - settlement.started).count());
  if (settlement.end.complete) object.put_json("result", as_json(settlement.end.complete->result));
  return object.take();
}

std::vector<std::string> history_entry(const std::string& host, const Settlement& settlement) {
  std::vector<std::string> fields;
  fields.reserve(most_fields);
  const auto put = [&fields](const char* name, std::string value) {
    if (value.empty()) return;
    fields.emplace_back(name);
    fields.push_back(std::move(value));
  };
  put("host", host);
  put("outcome", outcome_name(settlement.outcome));
  put("reason", outcome_reason(settlement.outcome));
  put("started", std::to_string(settlement.started.count()));
  put("ended", std::to_string(settlement.ended.count()));
  put("attempt", std::to_string(settlement.claim.attempt));
  put("fence", std::to_string(settlement.claim.fence));
  put("exit", exit_text(settlement.end.process));
  if (settlement.end.complete) put("result", settlement.end.complete->result);
  if (!std::holds_alternative<Succeeded>(settlement.outcome))
    put("stderr", settlement.end.stderr_tail);
  if (settlement.end.bad_lines > 0) put("bad_lines", std::to_string(settlement.end.bad_lines));
  return fields;
}

}  // namespace w8y::source

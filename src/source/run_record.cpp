#include "source/run_record.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <utility>

#include <w8y/base64.hpp>
#include <w8y/escape.hpp>

namespace w8y::source {

namespace {

using Json = nlohmann::ordered_json;

void put_bytes(Json& object, const std::string& name, const std::string& bytes) {
  if (is_utf8(bytes)) {
    object[name] = bytes;
  } else {
    object[name + "_base64"] = base64_encode(bytes);
  }
}

std::string dump(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Text that came out of an executor or the system, into a JSON value as it is if it is JSON.
Json parsed(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return text;
  return value;
}

Json head(const char* type, const Rule& rule, const RunId& run, const Item& item,
          const std::string& host, WallTime time) {
  Json object;
  object["type"] = type;
  put_bytes(object, "list", rule.prefix);
  object["run"] = run;
  put_bytes(object, "item", item);
  object["host"] = host;
  object["time"] = time.count();
  return object;
}

std::string exit_text(const ProcessEnd& end) {
  if (const auto* exited = std::get_if<Exited>(&end)) return std::to_string(exited->code);
  if (const auto* signalled = std::get_if<Signalled>(&end)) {
    const char* name = sigabbrev_np(signalled->signal);
    return name != nullptr ? std::string("SIG") + name : std::to_string(signalled->signal);
  }
  return {};
}

}  // namespace

std::string event_json(const Rule& rule, const std::string& host, const RunEvent& event,
                       WallTime now) {
  switch (event.kind) {
    case RunEvent::Kind::start: {
      Json object = head("start", rule, event.run, event.item, host, now);
      object["pid"] = event.pid;
      return dump(object);
    }
    case RunEvent::Kind::progress: {
      Json object = head("progress", rule, event.run, event.item, host, now);
      object["numerator"] = event.progress.numerator;
      object["denominator"] = event.progress.denominator;
      return dump(object);
    }
    case RunEvent::Kind::update: {
      Json object = head("update", rule, event.run, event.item, host, now);
      object["data"] = parsed(event.data);
      return dump(object);
    }
  }
  return {};
}

std::string end_json(const std::string& host, const Settlement& settlement) {
  Json object = head("end", *settlement.rule, settlement.claim.run, settlement.claim.item, host,
                     settlement.ended);
  object["outcome"] = outcome_name(settlement.outcome);
  if (const std::string reason = outcome_reason(settlement.outcome); !reason.empty())
    object["reason"] = reason;
  if (const std::string exit = exit_text(settlement.end.process); !exit.empty())
    object["exit"] = exit;
  object["took"] = (settlement.ended - settlement.started).count();
  if (settlement.end.complete) object["result"] = parsed(settlement.end.complete->result);
  return dump(object);
}

std::vector<std::string> history_entry(const std::string& host, const Settlement& settlement) {
  std::vector<std::string> fields;
  const auto put = [&fields](const char* name, std::string value) {
    if (value.empty()) return;
    fields.emplace_back(name);
    fields.push_back(std::move(value));
  };
  fields = {"run", settlement.claim.run, "item", settlement.claim.item};
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

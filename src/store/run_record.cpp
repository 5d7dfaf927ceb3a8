#include "store/run_record.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string_view>
#include <utility>

#include "core/json_object.hpp"
#include "core/json_text.hpp"
#include "store/store_error.hpp"
#include "view/run_record.hpp"

namespace w8y::store {

namespace {

using Json = nlohmann::json;

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns text of an executor or the system unchanged if it is JSON, else as a JSON string.
std::string as_json(const std::string& text) {
  return text != "{}" && json_text::error(text) ? dump(text) : text;
}

/// Bytes of log output, of a reason and of a result in a kept record.
constexpr std::size_t most_kept = 4096;

/// Typical length of an event in bytes.
constexpr std::size_t usual_length = 300;

core::JsonObject head(const char* type, const ListConfig& rule, const RunId& run,
                      const DisplayItem& item, const std::string& host, WallTime time) {
  core::JsonObject object(usual_length);
  object.put("type", type);
  object.put_bytes("list", rule.prefix);
  object.put("run", run);
  object.put_bytes("item", item.beginning);
  if (item.is_truncated()) object.put("item_length", static_cast<std::int64_t>(item.length));
  object.put("host", host);
  object.put("time_ms", time.count());
  return object;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : std::to_string(signal);
}

view::RunRecord record_of(const std::string& host, const EndedRun& run) {
  view::RunRecord record;
  record.list = run.rule->prefix;
  record.run = std::string_view(run.claim.run);
  record.item = run.claim.item;
  record.host = host;
  record.outcome = outcome_name(run.outcome);
  record.reason = outcome_reason(run.outcome);
  record.ended = run.ended;
  record.duration = run.ended - run.started;
  const ResourceUse& used = run.end.used;
  if (used.cpu) record.cpu = std::chrono::duration_cast<WallTime>(*used.cpu);
  if (used.peak_memory) record.peak_memory = static_cast<std::int64_t>(*used.peak_memory);
  if (const auto* exited = std::get_if<Exited>(&run.end.process)) record.exit = exited->code;
  if (const auto* signalled = std::get_if<Signalled>(&run.end.process))
    record.signal = signal_name(signalled->signal);
  record.attempt = run.claim.attempt;
  if (run.claim.fence) record.fence = static_cast<std::int64_t>(*run.claim.fence);
  if (const auto& complete = run.end.complete)
    record.result = complete->is_text ? dump(complete->result) : as_json(complete->result);
  return record;
}

}  // namespace

std::string event_json(const ListConfig& rule, const std::string& host, const RunEvent& event,
                       WallTime now) {
  const auto begin = [&](const char* type) {
    return head(type, rule, event.run, event.item, host, now);
  };
  switch (event.kind) {
    case RunEvent::Kind::start: {
      core::JsonObject object = begin("start");
      object.put("pid", event.pid);
      return object.finish();
    }
    case RunEvent::Kind::progress: {
      core::JsonObject object = begin("progress");
      object.put_json("numerator", dump(event.progress.numerator));
      object.put_json("denominator", dump(event.progress.denominator));
      return object.finish();
    }
    case RunEvent::Kind::update: {
      core::JsonObject object = begin("update");
      object.put_json("data", as_json(event.data));
      return object.finish();
    }
  }
  return {};
}

std::string end_json(const std::string& host, const EndedRun& run) {
  return view::event_text(record_of(host, run));
}

std::string history_members(const EndedRun& run, const std::string& stalled) {
  const bool kept = run.rule->keep_output || !std::holds_alternative<Succeeded>(run.outcome);
  const bool output = kept && !run.end.stderr_tail.empty();
  if (run.end.bad_lines == 0 && stalled.empty() && !output) return {};  // true for most runs
  view::RunRecord record;
  if (run.end.bad_lines > 0) record.bad_lines = static_cast<std::int64_t>(run.end.bad_lines);
  record.stalled = stalled;
  if (output) record.error_output = run.end.stderr_tail;
  return view::history_text(record);
}

std::string kept_record(const std::string& host, const EndedRun& run, const std::string& stalled) {
  view::RunRecord record = record_of(host, run);
  record.reason.resize(shown_part(record.reason).size());
  if (record.result.size() > most_kept) record.result.clear();
  record.stalled = shown_part(stalled);
  std::string_view output = run.end.stderr_tail;
  if (output.size() > most_kept) {
    output.remove_prefix(output.size() - most_kept);
    // Starts with a whole line, if there is one.
    if (const auto line = output.find('\n'); line + 1 < output.size())
      output.remove_prefix(line + 1);
  }
  record.error_output = output;
  std::string text = view::event_text(record);
  text.pop_back();
  return text + view::history_text(record) + '}';
}

const HistoryLimits& history_of(const ListConfig& rule, bool succeeded) {
  return succeeded || rule.failed_history.runs == 0 ? rule.history : rule.failed_history;
}

std::string to_text(const HistoryLimits& limits) {
  if (limits.runs == 0) return "0";
  std::string text = std::to_string(limits.runs) + ' ' + std::to_string(limits.bytes);
  if (limits.age > Duration{0}) text += ' ' + ms_text(limits.age);
  return text;
}

}  // namespace w8y::store

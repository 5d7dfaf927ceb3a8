#include "view/run_record.hpp"

#include "core/json_text.hpp"
#include "core/number.hpp"
#include "view/run_view.hpp"

namespace w8y::view {

namespace {

/// Maximum number of members of an entry; w8yd writes less than 20.
constexpr std::size_t max_members = 64;
/// Approximate number of bytes of an event.
constexpr std::size_t usual_event = 300;

/// Number; omitted if there is none.
struct SomeNumber {
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<std::int64_t>& number, Surface) {
    if (number) json.put(name, *number);
  }
  static void read(const JsonFields& json, std::string_view name,
                   std::optional<std::int64_t>& number) {
    number = json.integer(name, {});
  }
};

struct ExitCode : SomeNumber {
  static void read(const JsonFields& json, std::string_view name,
                   std::optional<std::int64_t>& code) {
    code = json.integer(name, {0, 255});
  }
};

void write_type(core::JsonObject& json, std::string_view name, const RunRecord&, Surface) {
  json.put(name, "end");
}

void write_item(core::JsonObject& json, std::string_view name, const RunRecord& run, Surface) {
  put_item(json, name, run.item);
}
void read_item_of_run(const JsonFields& json, std::string_view, RunRecord& run) {
  run.item = read_item(json).value_or(DisplayItem());
}

void write_started(core::JsonObject& json, std::string_view name, const RunRecord& run, Surface) {
  if (const auto started = run.started()) json.put(name, started->count());
}

/// Writes the result: on one line in ASCII for the API, unchanged for Redis.
void write_result(core::JsonObject& json, std::string_view name, const RunRecord& run,
                  Surface surface) {
  if (!run.result.empty())
    json.put_json(name, surface == api ? json_text::one_line(run.result) : run.result);
}

constexpr unsigned shown_run = event | api;
constexpr Field<RunRecord> record_fields[] = {
    {"type", event, write_type, nullptr},
    field<RunRecord, Bytes, &RunRecord::list>("list", shown_run),
    field<RunRecord, SomeText, &RunRecord::run>("run", shown_run),
    {"item", shown_run, write_item, read_item_of_run},
    field<RunRecord, SomeBytes, &RunRecord::host>("host", shown_run),
    {"started_ms", api, write_started, nullptr},
    field<RunRecord, RecordTime, &RunRecord::ended>("time_ms", event),
    field<RunRecord, RecordTime, &RunRecord::ended>("ended_ms", api),
    field<RunRecord, SomeText, &RunRecord::outcome>("outcome", shown_run),
    field<RunRecord, SomeText, &RunRecord::reason>("reason", shown_run),
    field<RunRecord, ExitCode, &RunRecord::exit>("exit", shown_run),
    field<RunRecord, SomeText, &RunRecord::signal>("signal", shown_run),
    field<RunRecord, RecordTime, &RunRecord::duration>("duration_ms", shown_run),
    field<RunRecord, RecordTime, &RunRecord::cpu>("cpu_ms", shown_run),
    field<RunRecord, SomeNumber, &RunRecord::peak_memory>("peak_memory_bytes", shown_run),
    field<RunRecord, SomeNumber, &RunRecord::attempt>("attempt", shown_run),
    field<RunRecord, SomeNumber, &RunRecord::fence>("fence", shown_run),
    {"result", shown_run, write_result, nullptr},
    field<RunRecord, SomeNumber, &RunRecord::bad_lines>("bad_lines", history | api),
    field<RunRecord, SomeText, &RunRecord::stalled>("stalled", history),
    field<RunRecord, SomeBytes, &RunRecord::error_output>("stderr", history | api),
};

bool is_scalar(std::string_view value) {
  return !value.starts_with('{') && !value.starts_with('[');
}

}  // namespace

std::optional<WallTime> RunRecord::started() const {
  if (!ended || !duration || *duration > *ended) return std::nullopt;
  return *ended - *duration;
}

std::vector<std::string_view> record_names(unsigned surfaces) {
  return names_of(record_fields, surfaces);
}

std::string event_text(const RunRecord& run) {
  core::JsonObject json(usual_event + run.result.size());
  put_fields(json, record_fields, run, event);
  return json.finish();
}

std::string history_text(const RunRecord& run) {
  core::JsonObject json(run.error_output.size() + 64);
  put_fields(json, record_fields, run, history);
  std::string members = json.finish();
  if (members == "{}") return {};
  members.front() = ',';
  members.pop_back();
  return members;
}

std::string to_json(const RunRecord& run) {
  core::AsciiObject json(usual_event + run.result.size() + run.error_output.size());
  put_fields(json, record_fields, run, api);
  return json.finish();
}

std::optional<RunRecord> read_record(const std::string& list, std::string_view text,
                                     std::optional<WallTime>& entered) {
  // Not as a tree: a result may have millions of values, and a hostile entry has millions of
  // members.
  if (json_text::shape(text).members > max_members || json_text::error(text)) return std::nullopt;
  const auto members = json_text::members(text);
  if (!members) return std::nullopt;
  RunRecord run;
  std::string scalars = "{";
  for (const json_text::Member& member : *members) {
    if (member.key == "result") run.result = member.value;
    if (member.key == "result" || !is_scalar(member.value)) continue;
    scalars.append(scalars.size() > 1 ? "," : "").append(member.whole);
  }
  const auto json = JsonFields::parse(scalars += '}');
  if (!json) return std::nullopt;
  for (const Surface surface : {event, history}) read_fields(*json, record_fields, run, surface);
  if (const auto time = json->ms("entered_ms")) entered = time;
  run.list = list;
  run.entered = entered.value_or(WallTime{0});
  return run;
}

}  // namespace w8y::view

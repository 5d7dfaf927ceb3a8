#include "view/run_view.hpp"

#include <algorithm>
#include <utility>

namespace w8y::view {

namespace {

struct RunIdForm {
  static void write(core::JsonObject& json, std::string_view name, const RunId& run, Surface) {
    json.put(name, run);
  }
  static void read(const JsonFields& json, std::string_view name, RunId& run) {
    run = RunId(json.text(name));
  }
};

struct ItemForm {
  static void write(core::JsonObject& json, std::string_view name, const DisplayItem& item,
                    Surface) {
    put_item(json, name, item);
  }
  static void read(const JsonFields& json, std::string_view, DisplayItem& item) {
    item = read_item(json).value_or(DisplayItem());
  }
};

struct RunStateForm {
  static void write(core::JsonObject& json, std::string_view name, RunStatus::State state,
                    Surface) {
    json.put(name, state_name(state));
  }
  static void read(const JsonFields& json, std::string_view name, RunStatus::State& state) {
    using State = RunStatus::State;
    state = State::running;
    for (const State each : {State::stopping, State::settling})
      if (json.text(name) == state_name(each)) state = each;
  }
};

struct ProgressForm {
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<Progress>& progress, Surface) {
    if (!progress) return json.put_json(name, "null");
    core::AsciiObject object(64);
    object.put_json("numerator", real_json(progress->numerator));
    object.put_json("denominator", real_json(progress->denominator));
    json.put_json(name, object.finish());
  }
  static void read(const JsonFields& json, std::string_view name,
                   std::optional<Progress>& progress) {
    const auto object = json.object(name);
    progress = object ? read_progress(*object) : std::nullopt;
  }
};

constexpr unsigned everywhere = ~0U;

constexpr Field<RunStatus> run_fields[] = {
    field<RunStatus, RunIdForm, &RunStatus::run>("run", everywhere),
    field<RunStatus, ItemForm, &RunStatus::item>("item", everywhere),
    field<RunStatus, RunStateForm, &RunStatus::state>("state", everywhere),
    field<RunStatus, Number, &RunStatus::pid>("pid", everywhere),
    field<RunStatus, Time, &RunStatus::started>("started_ms", everywhere),
    field<RunStatus, Number, &RunStatus::attempt>("attempt", everywhere),
    field<RunStatus, KnownNumber, &RunStatus::fence>("fence", everywhere),
    field<RunStatus, ProgressForm, &RunStatus::progress>("progress", everywhere),
    field<RunStatus, Flag, &RunStatus::lease_lost>("lease_lost", everywhere),
};

/// Further fields, behind those of the status.
constexpr Field<RunView> view_fields[] = {
    field<RunView, RecordTime, &RunView::age>("age_ms", everywhere),
    field<RunView, SomeBytes, &RunView::tail>("tail", everywhere),
    field<RunView, RecordTime, &RunView::used, &ResourceUse::cpu>("cpu_ms", everywhere),
    field<RunView, KnownNumber, &RunView::used, &ResourceUse::peak_memory>("peak_memory_bytes",
                                                                           everywhere),
    field<RunView, SomeBytes, &RunView::host>("host", everywhere),
    field<RunView, SomeBytes, &RunView::host_id>("host_id", everywhere),
};

}  // namespace

std::string to_json(const RunStatus& run) {
  core::AsciiObject json(256);
  put_fields(json, run_fields, run, api);
  return json.finish();
}

std::string to_json(const RunView& run) {
  core::AsciiObject json(384 + run.tail.size());
  json.put_bytes("list", run.list);
  put_fields(json, run_fields, run.status, api);
  put_fields(json, view_fields, run, api);
  return json.finish();
}

std::optional<RunView> read_run(const JsonFields& json) {
  RunView run;
  read_fields(json, run_fields, run.status, api);
  if (run.status.run.empty()) return std::nullopt;
  run.list = json.bytes("list").value_or("");
  read_fields(json, view_fields, run, api);
  return run;
}

std::optional<Progress> read_progress(const JsonFields& json) {
  const auto numerator = json.real("numerator");
  const auto denominator = json.real("denominator");
  if (!numerator || !denominator) return std::nullopt;
  return Progress{*numerator, *denominator};
}

std::optional<DisplayItem> read_item(const JsonFields& json) {
  auto beginning = json.bytes("item");
  if (!beginning) return std::nullopt;
  DisplayItem item;
  item.length = std::max(beginning->size(), json.number<std::size_t>("item_length"));
  item.beginning = std::move(*beginning);
  return item;
}

void put_item(core::JsonObject& json, std::string_view name, const DisplayItem& item) {
  json.put_bytes(name, item.beginning);
  if (item.is_truncated()) json.put("item_length", item.length);
}

DisplayItem shortened(const DisplayItem& item, std::size_t most) {
  const std::string_view text = item.beginning;
  if (text.size() <= most) return item;
  std::size_t end = most;
  while (end > most - 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  DisplayItem result;
  result.beginning = text.substr(0, end);
  result.length = item.length;
  return result;
}

}  // namespace w8y::view

#include "view/list_view.hpp"

#include <algorithm>
#include <functional>

#include "core/escape.hpp"
#include "view/fleet.hpp"
#include "view/run_view.hpp"

namespace w8y::view {

namespace {

/// Maximum number of runs of a list on pages, and of bytes of each of their items.
constexpr std::size_t max_page_runs = 8;
constexpr std::size_t max_page_item = 160;
/// Maximum number of bytes of a reason.
constexpr std::size_t max_reason = 512;

struct ListStateForm {
  static void write(core::JsonObject& json, std::string_view name, ListState state, Surface) {
    json.put(name, state_name(state));
  }
  static void read(const JsonFields&, std::string_view, ListState&) {}  // read_list() reads it
};

constexpr Field<Pause> pause_fields[] = {
    field<Pause, Bytes, &Pause::reason>("reason", api),
    field<Pause, Bytes, &Pause::by>("by", api),
    field<Pause, Time, &Pause::since>("since_ms", api),
    field<Pause, Time, &Pause::until>("until_ms", api),
};

constexpr Field<OpenBreaker> breaker_fields[] = {
    field<OpenBreaker, Bytes, &OpenBreaker::reason>("reason", api),
    field<OpenBreaker, Time, &OpenBreaker::since>("since_ms", api),
    field<OpenBreaker, Time, &OpenBreaker::probe>("probe_ms", api),
};

/// Object with all of `rows`; null if there is none.
template <const auto& rows>
struct MaybeObject {
  template <class T>
  static void write(core::JsonObject& json, std::string_view name, const std::optional<T>& value,
                    Surface surface) {
    if (!value) {
      if ((surface & sparse) == 0) json.put_json(name, "null");
      return;
    }
    core::AsciiObject object(128);
    put_fields(object, rows, *value, api);
    json.put_json(name, object.finish());
  }
  template <class T>
  static void read(const JsonFields& json, std::string_view name, std::optional<T>& value) {
    if (const auto object = json.object(name)) read_fields(*object, rows, value.emplace(), api);
  }
};

constexpr std::pair<const char*, std::uint64_t RunCounters::*> counters[] = {
    {"claimed", &RunCounters::claimed},
    {"succeeded", &RunCounters::succeeded},
    {"failed", &RunCounters::failed},
    {"crashed", &RunCounters::crashed},
    {"timed_out", &RunCounters::timed_out},
    {"cancelled", &RunCounters::cancelled},
    {"lost", &RunCounters::lost},
    {"bad_lines", &RunCounters::bad_lines},
    {"leases_lost", &RunCounters::leases_lost}};

/// Returns whether pages show the counter: they show only the outcomes of runs.
bool shows_on_pages(std::uint64_t RunCounters::*counter) {
  return counter != &RunCounters::claimed && counter != &RunCounters::bad_lines &&
         counter != &RunCounters::leases_lost;
}

struct CountersForm {
  static void write(core::JsonObject& json, std::string_view name, const RunCounters& value,
                    Surface surface) {
    const bool some = (surface & sparse) != 0;
    core::AsciiObject object(128);
    bool any = false;
    for (const auto& [counter, member] : counters) {
      if (some && (value.*member == 0 || !shows_on_pages(member))) continue;
      object.put(counter, value.*member);
      any = true;
    }
    if (any) json.put_json(name, object.finish());
  }
  static void read(const JsonFields& json, std::string_view name, RunCounters& value) {
    const auto object = json.object(name);
    if (!object) return;
    for (const auto& [counter, member] : counters)
      value.*member = object->number<std::uint64_t>(counter);
  }
};

struct RunsForm {
  static void write(core::JsonObject& json, std::string_view name,
                    const std::vector<RunStatus>& runs, Surface surface) {
    const bool some = (surface & sparse) != 0;
    if (some && runs.empty()) return;
    core::JsonArray array;
    for (std::size_t i = 0; i < (some ? std::min(runs.size(), max_page_runs) : runs.size()); ++i) {
      if (!some) {
        array.add(to_json(runs[i]));
        continue;
      }
      RunStatus run = runs[i];
      run.item = shortened(run.item, max_page_item);
      array.add(to_json(run));
    }
    json.put_json(name, array.finish());
  }
  static void read(const JsonFields& json, std::string_view name, std::vector<RunStatus>& runs) {
    for (const JsonFields& each : json.objects(name))
      if (auto run = read_run(each)) runs.push_back(std::move(run->status));
  }
};

/// overdue_after; omitted if the config sets none.
struct WatchedForm {
  static void write(core::JsonObject& json, std::string_view name, Duration within, Surface) {
    if (within > Duration{0}) json.put(name, std::chrono::duration_cast<WallTime>(within).count());
  }
  static void read(const JsonFields& json, std::string_view name, Duration& within) {
    within = json.ms(name).value_or(WallTime{0});
  }
};

/// Key prefix; omitted for lists other than schedules.
struct KeyPrefixForm {
  static void write(core::JsonObject& json, std::string_view name,
                    const std::optional<std::string>& prefix, Surface) {
    if (prefix) json.put_bytes(name, *prefix);
  }
  static void read(const JsonFields& json, std::string_view name,
                   std::optional<std::string>& prefix) {
    prefix = json.bytes(name);
  }
};

/// Codes as they are shown.
struct QueuesForm {
  static void write(core::JsonObject& json, std::string_view name,
                    const std::vector<std::string>& queues, Surface) {
    if (queues.empty()) return;
    std::vector<std::string> codes;
    for (const std::string& code : queues) codes.push_back(escape(code));
    json.put_json(name, texts_json(codes));
  }
  static void read(const JsonFields& json, std::string_view name,
                   std::vector<std::string>& queues) {
    queues = json.texts(name);
  }
};

// ---- statistics, which a list may lack

void write_items(core::JsonObject& json, std::string_view name, const ListStats& stats, Surface) {
  core::AsciiObject items(128);
  for (const auto& [state, count] : stats.items) items.put(state, count);
  json.put_json(name, items.finish());
}

void read_items(const JsonFields& json, std::string_view name, ListStats& stats) {
  const auto items = json.object(name);
  if (!items) return;
  for (const std::string& state : items->names())
    stats.items.push_back({state, items->number<std::uint64_t>(state)});
}

/// Writes the start of each quarter of an hour, and its cycle time.
void write_cycles(core::JsonObject& json, std::string_view name, const ListStats& stats, Surface) {
  constexpr std::int64_t quarter_ms = std::int64_t{15} * 60 * 1000;
  if (stats.cycles.empty()) return;
  const auto cycle_json = [](const CycleAt& each) {
    core::AsciiObject cycle(64);
    cycle.put("at_ms", each.quarter_hour * quarter_ms);
    cycle.put("cycle_ms", each.cycle.count());
    return cycle.finish();
  };
  json.put_json(name, core::json_array(stats.cycles, cycle_json));
}

struct EstimatedForm : Flag {
  static void write(core::JsonObject& json, std::string_view name, bool value, Surface surface) {
    if (value || (surface & sparse) == 0) Flag::write(json, name, value, surface);
  }
};

constexpr Field<ListStats> figure_fields[] = {
    {"items", api | detail | page, write_items, read_items},
    field<ListStats, EstimatedForm, &ListStats::estimated>("items_estimated", api | detail | page),
    // Not on pages: the time changes with each query, and each change sends the list again.
    field<ListStats, Time, &ListStats::at>("items_at_ms", api | detail),
    field<ListStats, KnownTime, &ListStats::cycle>("cycle_ms", api | detail | page),
    field<ListStats, KnownTime, &ListStats::longest_wait>("longest_wait_ms", api | detail | page),
    field<ListStats, KnownNumber, &ListStats::slots>("fleet_slots", api | detail),
    field<ListStats, KnownNumber, &ListStats::slots_needed>("slots_needed", api | detail | page),
    {"cycles", detail, write_cycles, nullptr},
};

struct FiguresForm {
  static void write(core::JsonObject& json, std::string_view, const std::optional<ListStats>& stats,
                    Surface surface) {
    if (stats) put_fields(json, figure_fields, *stats, surface);
  }
  static void read(const JsonFields& json, std::string_view, std::optional<ListStats>& stats) {
    if (json.has("items")) read_fields(json, figure_fields, stats.emplace(), api);
  }
};

// ---- lists

using L = ListStatus;
constexpr unsigned all_pages = page | fleet_page;
constexpr unsigned on_all_hosts = api | detail;
constexpr unsigned in_fleet = report | fleet;

constexpr Field<L> list_fields[] = {
    field<L, Bytes, &L::prefix>("list", all_pages | fleet),
    field<L, ListStateForm, &L::state>("state", here | all_pages | in_fleet | reply),
    field<L, Text<max_reason>, &L::why>("reason", here | all_pages | in_fleet | reply),
    field<L, MaybeObject<pause_fields>, &L::pause>("pause", on_all_hosts | page),
    field<L, MaybeObject<breaker_fields>, &L::breaker>("breaker", on_all_hosts | page),
    field<L, MaybeNumber, &L::quarantined>("quarantined", on_all_hosts | page),
    field<L, WatchedForm, &L::overdue_after>("overdue_after_ms", on_all_hosts | page),
    field<L, FiguresForm, &L::stats>("items", on_all_hosts | page),
    field<L, Text<>, &L::program>("program", here),
    field<L, Text<max_reason>, &L::probed>("program", in_fleet | settled),
    field<L, Texts, &L::caps>("caps", here | in_fleet | settled),
    field<L, Text<>, &L::executor_version>("executor_version", here | in_fleet | settled),
    field<L, Number, &L::running>("running", here | all_pages | in_fleet | reply),
    field<L, Number, &L::concurrency>("concurrency", here | all_pages | in_fleet | settled | reply),
    field<L, Limit, &L::fleet_concurrency>("fleet_concurrency",
                                           here | page | in_fleet | settled | reply),
    field<L, Number, &L::weight>("weight", here | in_fleet | settled | reply),
    field<L, Flag, &L::enabled>("enabled", in_fleet | settled),
    field<L, KeyPrefixForm, &L::key_prefix>("key_prefix", in_fleet | settled | reply),
    field<L, QueuesForm, &L::queues>("queues", in_fleet | settled | reply),
    field<L, KnownTime, &L::poll_within>("poll_within_ms", here | reply),
    field<L, Text<>, &L::unwritten>("write_error", here | page),
    field<L, CountersForm, &L::counters>("counters", here | page),
    field<L, Text<>, &L::last_error>("last_error", here | page),
    field<L, Time, &L::last_error_at>("last_error_ms", here | page),
    field<L, RunsForm, &L::runs>("runs", here | page),
};

using T = ListTotals;
constexpr Field<T> totals_fields[] = {
    field<T, ListStateForm, &T::state>("state", on_all_hosts),
    field<T, Text<>, &T::why>("reason", on_all_hosts),
    field<T, Texts, &T::caps>("caps", on_all_hosts),
    field<T, Number, &T::hosts>("hosts", on_all_hosts),
    field<T, Number, &T::serving>("serving_hosts", on_all_hosts),
    field<T, Number, &T::running>("running", on_all_hosts),
    field<T, Number, &T::slots>("slots", on_all_hosts),
    field<T, KeyPrefixForm, &T::key_prefix>("key_prefix", on_all_hosts),
};

/// Returns whether the state changes whenever a run starts or ends.
bool is_lively(ListState state) {
  return state == ListState::running || state == ListState::idle || state == ListState::full;
}

}  // namespace

std::string to_json(const ListStatus& list, Surface surface) {
  const bool cut = (surface & cut_texts) != 0;
  core::JsonObject json(512, cut ? core::JsonText::utf8 : core::JsonText::ascii);
  put_fields(json, list_fields, list, surface);
  return json.finish();
}

std::string to_json(const std::string& prefix, const ListTotals& list, const ListStatus* own,
                    Surface surface) {
  core::AsciiObject json(768);
  json.put_bytes("list", prefix);
  put_fields(json, totals_fields, list, surface);
  if (own != nullptr) put_fields(json, list_fields, *own, surface);
  if (own == nullptr) MaybeNumber::write(json, "quarantined", list.quarantined, surface);
  json.put_json("here", own == nullptr ? "null" : to_json(*own, here));
  return json.finish();
}

void put_fields(core::JsonObject& json, const ListStatus& list, Surface surface) {
  put_fields(json, list_fields, list, surface);
}

std::vector<std::string_view> list_names(unsigned surfaces) {
  return names_of(list_fields, surfaces);
}

std::vector<std::string_view> list_in_fleet_names() {
  std::vector<std::string_view> names = names_of(list_fields, on_all_hosts);
  for (const std::string_view name : names_of(figure_fields, on_all_hosts)) names.push_back(name);
  for (const std::string_view name : names_of(totals_fields, on_all_hosts)) names.push_back(name);
  names.insert(names.end(), {"list", "here"});
  return names;
}

std::optional<ListStatus> read_list(const JsonFields& json, Surface surface) {
  const auto state = list_state(json.text("state"));
  if (!state) return std::nullopt;
  ListStatus list;
  list.state = *state;
  read_fields(json, list_fields, list, surface);
  return list;
}

std::optional<ListInFleet> read_list_in_fleet(const JsonFields& json, Surface surface) {
  const auto state = list_state(json.text("state"));
  if (!state) return std::nullopt;
  ListInFleet list;
  list.list.state = *state;
  if (const auto own = json.object("here"))
    if (auto read = read_list(*own, here)) {
      list.list = std::move(*read);
      list.here = true;
    }
  read_fields(json, list_fields, list.list, surface);
  read_fields(json, totals_fields, list.totals, surface);
  list.totals.state = *state;
  list.list.prefix = json.bytes("list").value_or("");
  return list;
}

std::optional<ListStatus> read_report(const std::string& prefix, std::string_view text) {
  const auto json = JsonFields::parse(text, max_heartbeat);
  auto list = json ? read_list(*json, report) : std::nullopt;
  if (list) list->prefix = prefix;
  return list;
}

std::size_t settled_hash(const ListStatus& list) {
  core::AsciiObject json(512);
  put_fields(json, list_fields, list, settled);
  if (!is_lively(list.state)) {
    json.put("state", state_name(list.state));
    json.put("reason", list.why);
  }
  return std::hash<std::string>()(json.finish());
}

std::vector<std::pair<const char*, std::uint64_t>> counts_of(const RunCounters& of) {
  std::vector<std::pair<const char*, std::uint64_t>> counts;
  for (const auto& [name, member] : counters) counts.emplace_back(name, of.*member);
  return counts;
}

std::uint64_t failures(const RunCounters& counters) {
  return counters.failed + counters.crashed + counters.timed_out + counters.lost;
}

std::string pause_json(const std::string& list, const Pause& pause) {
  core::AsciiObject json;
  json.put("result", "paused");
  json.put_bytes("list", list);
  json.put_bytes("reason", pause.reason);
  json.put_bytes("by", pause.by);
  json.put("since_ms", pause.since.count());
  Time::write(json, "until_ms", pause.until, api);
  return json.finish();
}

std::string resume_json(const std::string& list, bool was_paused) {
  core::AsciiObject json;
  json.put("result", was_paused ? "resumed" : "was not paused");
  json.put_bytes("list", list);
  return json.finish();
}

}  // namespace w8y::view

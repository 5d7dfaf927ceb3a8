#include "view/list_stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ratio>
#include <utility>

#include "core/json_object.hpp"
#include "core/json_text.hpp"
#include "core/number.hpp"

namespace w8y {

namespace {

/// Longer texts are none of ours.
constexpr std::size_t longest_figures = 1024;
/// As they stand in the figures: no label has what others write there.
constexpr std::array known_states = {"length",      "free",    "running", "delayed",
                                     "quarantined", "claimed", "stalled", "queued",
                                     "due",         "bad",     "died"};

std::optional<std::vector<json_text::Member>> members_of(std::string_view text) {
  if (text.size() > longest_figures || json_text::mistake(text)) return std::nullopt;
  return json_text::members(text);
}

std::optional<std::int64_t> number_in(std::string_view value, IntegerRange range) {
  const auto number = json_text::as_number(value);
  return number ? read_integer(*number, range) : std::nullopt;
}

std::optional<std::uint64_t> count_in(const std::vector<json_text::Member>& members,
                                      std::string_view name, IntegerRange range = count_range) {
  const json_text::Member* found = json_text::find(members, name);
  const auto number = found == nullptr ? std::nullopt : number_in(found->value, range);
  return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::optional<WallTime> time_in(const std::vector<json_text::Member>& members,
                                std::string_view name) {
  const auto ms = count_in(members, name, ms_range);
  return ms ? std::optional(WallTime(static_cast<std::int64_t>(*ms))) : std::nullopt;
}

/// The quarter of the first, then the lap of it and of each that followed: 0, where none was known.
std::string laps_text(const std::vector<LapAt>& cycles) {
  std::string text = "[" + std::to_string(cycles.front().quarter);
  std::int64_t next = cycles.front().quarter;
  for (const LapAt& each : cycles) {
    for (; next < each.quarter; ++next) text += ",0";
    text.append(",").append(std::to_string(each.lap.count()));
    ++next;
  }
  return text += ']';
}

std::vector<LapAt> laps_in(const std::vector<json_text::Member>& members) {
  std::vector<LapAt> cycles;
  const json_text::Member* const found = json_text::find(members, "cycles");
  if (found == nullptr || !found->value.starts_with('[')) return cycles;
  std::string_view rest = found->value.substr(1);
  std::optional<std::int64_t> quarter;
  for (std::int64_t taken = 0; taken <= cycles_kept && !rest.empty(); ++taken) {
    const auto end = std::min(rest.find_first_of(",]"), rest.size());
    const auto number = number_in(rest.substr(0, end), ms_range);
    if (!number) break;
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (!quarter) {
      quarter = *number;
      continue;
    }
    if (*number > 0) cycles.push_back({*quarter, WallTime(*number)});
    ++*quarter;
  }
  return cycles;
}

void put_figure(core::JsonObject& json, const char* name, std::uint64_t number) {
  json.put_json(name, std::to_string(number));
}

}  // namespace

Duration period_of(const ListFigures& figures) {
  for (const auto& [state, items] : figures.items)
    if (state == "length" && items > long_list) return long_list_period;
  return figures_period;
}

std::vector<LapAt> cycles_with(std::vector<LapAt> before, WallTime at,
                               std::optional<WallTime> lap) {
  using Quarters = std::chrono::duration<std::int64_t, std::ratio<15 * 60>>;
  const std::int64_t quarter = std::chrono::floor<Quarters>(at).count();
  std::erase_if(before, [quarter](const LapAt& each) {
    return each.quarter <= quarter - cycles_kept || each.quarter > quarter;
  });
  if (!lap || lap->count() <= 0) return before;
  if (before.empty() || before.back().quarter < quarter) before.push_back({quarter, {}});
  before.back().lap = *lap;
  return before;
}

std::string to_text(const ListFigures& figures) {
  core::JsonObject json(longest_figures / 4);
  json.put("at_ms", static_cast<std::int64_t>(figures.at.count()));
  core::JsonObject items(longest_figures / 8);
  for (const auto& [state, count] : figures.items) put_figure(items, state.c_str(), count);
  json.put_json("items", items.take());
  if (figures.estimated) json.put_json("estimated", "true");
  if (figures.lap) json.put("cycle_ms", static_cast<std::int64_t>(figures.lap->count()));
  if (figures.oldest)
    json.put("longest_wait_ms", static_cast<std::int64_t>(figures.oldest->count()));
  if (figures.places) put_figure(json, "slots", *figures.places);
  if (figures.slots_needed) put_figure(json, "slots_needed", *figures.slots_needed);
  if (!figures.cycles.empty()) json.put_json("cycles", laps_text(figures.cycles));
  return json.take();
}

std::optional<ListFigures> parse_figures(std::string_view text) {
  const auto members = members_of(text);
  if (!members) return std::nullopt;
  const auto at = time_in(*members, "at_ms");
  const json_text::Member* const items = json_text::find(*members, "items");
  const auto counts = items == nullptr ? std::nullopt : json_text::members(items->value);
  if (!at || !counts) return std::nullopt;
  ListFigures figures;
  figures.at = *at;
  for (const char* state : known_states)
    if (const auto count = count_in(*counts, state)) figures.items.push_back({state, *count});
  const json_text::Member* const estimated = json_text::find(*members, "estimated");
  figures.estimated = estimated != nullptr && estimated->value == "true";
  figures.lap = time_in(*members, "cycle_ms");
  figures.oldest = time_in(*members, "longest_wait_ms");
  figures.places = count_in(*members, "slots");
  figures.slots_needed = count_in(*members, "slots_needed");
  figures.cycles = laps_in(*members);
  return figures;
}

std::string to_text(const FleetCounts& counts) {
  core::JsonObject json(longest_figures / 8);
  json.put("at_ms", static_cast<std::int64_t>(counts.at.count()));
  put_figure(json, "hosts", counts.hosts);
  put_figure(json, "outdated", counts.behind);
  return json.take();
}

std::optional<FleetCounts> parse_fleet_counts(std::string_view text) {
  const auto members = members_of(text);
  if (!members) return std::nullopt;
  const auto at = time_in(*members, "at_ms");
  const auto hosts = count_in(*members, "hosts");
  const auto behind = count_in(*members, "outdated");
  if (!at || !hosts || !behind) return std::nullopt;
  return FleetCounts{*hosts, *behind, *at};
}

FleetCounts count(const FleetView& view) {
  FleetCounts counts;
  counts.at = view.now;
  for (const FleetHost& host : view.hosts) {
    if (host.silent || !host.trouble.empty()) continue;
    ++counts.hosts;
    if (host.behind) ++counts.behind;
  }
  return counts;
}

std::uint64_t places_for(std::uint64_t items, Duration mean_run, Duration overdue_after) {
  const double work = static_cast<double>(items) * static_cast<double>(mean_run.count());
  const double places =
      std::ceil(work / static_cast<double>(std::max<Duration::rep>(1, overdue_after.count())));
  return static_cast<std::uint64_t>(std::clamp(places, 1.0, 1e9));
}

}  // namespace w8y

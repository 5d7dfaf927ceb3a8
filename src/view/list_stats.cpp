#include "view/list_stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ratio>
#include <set>

#include "core/json_object.hpp"
#include "core/json_text.hpp"
#include "core/number.hpp"

namespace w8y {

namespace {

/// Maximum number of bytes of statistics; longer texts are ignored.
constexpr std::size_t max_stats = 1024;
/// States in the statistics. Other names are ignored, so that metrics have no labels from other
/// programs.
constexpr std::array known_states = {"length",      "free",    "running", "delayed",
                                     "quarantined", "claimed", "stalled", "queued",
                                     "due",         "bad",     "died"};

std::optional<std::vector<json_text::Member>> members_of(std::string_view text) {
  if (text.size() > max_stats || json_text::error(text)) return std::nullopt;
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

/// Returns the first quarter of an hour, then the cycle time of each quarter: 0 = not known.
std::string cycles_text(const std::vector<CycleAt>& cycles) {
  std::string text = "[" + std::to_string(cycles.front().quarter_hour);
  std::int64_t next = cycles.front().quarter_hour;
  for (const CycleAt& each : cycles) {
    for (; next < each.quarter_hour; ++next) text += ",0";
    text.append(",").append(std::to_string(each.cycle.count()));
    ++next;
  }
  return text += ']';
}

std::vector<CycleAt> cycles_in(const std::vector<json_text::Member>& members) {
  std::vector<CycleAt> cycles;
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

Duration period_of(const ListStats& stats) {
  for (const auto& [state, items] : stats.items)
    if (state == "length" && items > long_list) return long_list_period;
  return stats_period;
}

std::vector<CycleAt> cycles_with(std::vector<CycleAt> before, WallTime at,
                                 std::optional<WallTime> cycle) {
  using Quarters = std::chrono::duration<std::int64_t, std::ratio<15 * 60>>;
  const std::int64_t quarter = std::chrono::floor<Quarters>(at).count();
  std::erase_if(before, [quarter](const CycleAt& each) {
    return each.quarter_hour <= quarter - cycles_kept || each.quarter_hour > quarter;
  });
  if (!cycle || cycle->count() <= 0) return before;
  if (before.empty() || before.back().quarter_hour < quarter) before.push_back({quarter, {}});
  before.back().cycle = *cycle;
  return before;
}

std::string to_text(const ListStats& stats) {
  core::JsonObject json(max_stats / 4);
  json.put("at_ms", static_cast<std::int64_t>(stats.at.count()));
  core::JsonObject items(max_stats / 8);
  for (const auto& [state, count] : stats.items) put_figure(items, state.c_str(), count);
  json.put_json("items", items.finish());
  if (stats.estimated) json.put_json("estimated", "true");
  if (stats.cycle) json.put("cycle_ms", static_cast<std::int64_t>(stats.cycle->count()));
  if (stats.longest_wait)
    json.put("longest_wait_ms", static_cast<std::int64_t>(stats.longest_wait->count()));
  if (stats.slots) put_figure(json, "slots", *stats.slots);
  if (stats.slots_needed) put_figure(json, "slots_needed", *stats.slots_needed);
  if (!stats.cycles.empty()) json.put_json("cycles", cycles_text(stats.cycles));
  return json.finish();
}

std::optional<ListStats> parse_list_stats(std::string_view text) {
  const auto members = members_of(text);
  if (!members) return std::nullopt;
  const auto at = time_in(*members, "at_ms");
  const json_text::Member* const items = json_text::find(*members, "items");
  const auto counts = items == nullptr ? std::nullopt : json_text::members(items->value);
  if (!at || !counts) return std::nullopt;
  ListStats stats;
  stats.at = *at;
  for (const char* state : known_states)
    if (const auto count = count_in(*counts, state)) stats.items.push_back({state, *count});
  const json_text::Member* const estimated = json_text::find(*members, "estimated");
  stats.estimated = estimated != nullptr && estimated->value == "true";
  stats.cycle = time_in(*members, "cycle_ms");
  stats.longest_wait = time_in(*members, "longest_wait_ms");
  stats.slots = count_in(*members, "slots");
  stats.slots_needed = count_in(*members, "slots_needed");
  stats.cycles = cycles_in(*members);
  return stats;
}

std::string to_text(const FleetCounts& counts) {
  core::JsonObject json(max_stats / 8);
  json.put("at_ms", static_cast<std::int64_t>(counts.at.count()));
  put_figure(json, "hosts", counts.hosts);
  put_figure(json, "outdated", counts.outdated);
  if (counts.unresponsive > 0) put_figure(json, "unresponsive", counts.unresponsive);
  return json.finish();
}

std::optional<FleetCounts> parse_fleet_counts(std::string_view text) {
  const auto members = members_of(text);
  if (!members) return std::nullopt;
  const auto at = time_in(*members, "at_ms");
  const auto hosts = count_in(*members, "hosts");
  const auto behind = count_in(*members, "outdated");
  if (!at || !hosts || !behind) return std::nullopt;
  const auto unresponsive = count_in(*members, "unresponsive");
  return FleetCounts{*hosts, *behind, unresponsive.value_or(0), *at};
}

FleetCounts count(const FleetView& view) {
  FleetCounts counts;
  counts.at = view.now;
  std::set<std::string_view> live;
  for (const FleetHost& host : view.hosts) {
    if (host.unresponsive || !host.error.empty()) continue;
    live.insert(host.heartbeat.host);
    ++counts.hosts;
    if (host.config_outdated) ++counts.outdated;
  }
  counts.unresponsive = static_cast<std::size_t>(
      std::count_if(view.hosts.begin(), view.hosts.end(), [&live](const FleetHost& host) {
        return host.unresponsive && host.error.empty() && !live.contains(host.heartbeat.host);
      }));
  return counts;
}

std::uint64_t places_for(std::uint64_t items, Duration mean_run, Duration overdue_after) {
  const double work = static_cast<double>(items) * static_cast<double>(mean_run.count());
  const double places =
      std::ceil(work / static_cast<double>(std::max<Duration::rep>(1, overdue_after.count())));
  return static_cast<std::uint64_t>(std::clamp(places, 1.0, 1e9));
}

}  // namespace w8y

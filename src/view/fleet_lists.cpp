#include "view/fleet_lists.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "view/field.hpp"

namespace w8y {

namespace {

/// States of a list, the nearest to a run first. One host that serves the list suffices.
constexpr std::array by_nearness = {
    ListState::running,  ListState::full,    ListState::paused,      ListState::breaker_open,
    ListState::idle,     ListState::starved, ListState::unavailable, ListState::quiet,
    ListState::draining, ListState::probing, ListState::ineligible,  ListState::disabled};
static_assert(by_nearness.size() == all_list_states.size());

std::ptrdiff_t distance_of(ListState state) {
  return std::ranges::find(by_nearness, state) - by_nearness.begin();
}

std::optional<std::uint64_t> running_in(const std::optional<ListStats>& stats) {
  if (!stats) return std::nullopt;
  for (const auto& [state, items] : stats->items)
    if (state == "running") return items;
  return std::nullopt;
}

std::string counts_json(const std::map<std::string, std::size_t>& counts) {
  core::AsciiObject json(128);
  for (const auto& [name, count] : counts) json.put(name, count);
  return json.finish();
}

std::map<std::string, std::size_t> read_counts(const view::JsonFields& json,
                                               std::string_view name) {
  std::map<std::string, std::size_t> counts;
  if (const auto object = json.object(name))
    for (const std::string& each : object->names())
      counts[each] = object->number<std::size_t>(each);
  return counts;
}

}  // namespace

bool serves(ListState state) {
  return state == ListState::running || state == ListState::idle || state == ListState::full ||
         state == ListState::paused || state == ListState::starved ||
         state == ListState::breaker_open || state == ListState::unavailable;
}

/// A pause in `list` was read from Redis and applies to all hosts, so it replaces the states in
/// list reports. The list of this host must therefore be added last.
void ListTotals::add(const std::string& host, const ListStatus& list) {
  const std::pair nearness(distance_of(list.state), std::string_view(host));
  const bool paused = list.pause && list.state == ListState::paused;
  equal_ = paused || (equal_ && (hosts == 0 || (state == list.state && why == list.why)));
  if (paused || hosts == 0 || nearness < std::pair(distance_of(state), std::string_view(host_))) {
    state = list.state;
    why = list.why;
    caps = list.caps;
    key_prefix = list.key_prefix;
    host_ = host;
  }
  ++hosts;
  running += list.running;
  fleet_concurrency_ = std::max(fleet_concurrency_, list.fleet_concurrency);
  if (!serves(list.state)) return;
  ++serving;
  slots += list.concurrency;
}

void ListTotals::finish(const std::optional<ListStats>& stats) {
  if (fleet_concurrency_ > 0) slots = std::min<std::uint64_t>(slots, fleet_concurrency_);
  if (!equal_ && !why.empty()) why = escape_text(host_) + ": " + why;
  if (const auto counted = running_in(stats)) running = static_cast<std::size_t>(*counted);
}

FleetSummary::FleetSummary(const HostStatus& host, const FleetLists& others)
    : host_states(others.states),
      omitted(others.omitted),
      error(others.error),
      slots_used(others.slots_used + host.slots_used) {
  ++host_states[state_name(host.state)];
  if (!others.unlimited && host.slots_limit > 0)
    slots_limit = others.slots_limit + host.slots_limit;
}

void FleetSummary::add(const ListTotals& list) {
  ++lists;
  ++states[state_name(list.state)];
  running += list.running;
}

std::string to_json(const FleetSummary& summary) {
  core::AsciiObject json(512);
  json.put_json("hosts", counts_json(summary.host_states));
  json.put("omitted_hosts", summary.omitted);
  json.put("error", summary.error);
  view::write_slots(json, "slots", summary, view::api);
  json.put("lists", summary.lists);
  json.put_json("states", counts_json(summary.states));
  json.put("running", summary.running);
  return json.finish();
}

FleetSummary read_fleet_summary(const view::JsonFields& json) {
  FleetSummary summary;
  summary.host_states = read_counts(json, "hosts");
  summary.omitted = json.number<std::size_t>("omitted_hosts");
  summary.error = json.text("error");
  view::read_slots(json, "slots", summary);
  summary.lists = json.number<std::size_t>("lists");
  summary.states = read_counts(json, "states");
  summary.running = json.number<std::size_t>("running");
  return summary;
}

void HereTotals::add(const ListStatus& list) {
  ++lists;
  ++states[state_name(list.state)];
  running += list.running;
  leases_lost += list.counters.leases_lost;
  for (const RunStatus& run : list.runs) lost_now += run.lease_lost ? 1 : 0;
}

std::string to_json(const HereTotals& totals) {
  core::AsciiObject json;
  json.put("lists", totals.lists);
  json.put_json("states", counts_json(totals.states));
  json.put("running", totals.running);
  json.put("leases_lost", totals.leases_lost);
  json.put("leases_lost_now", totals.lost_now);
  return json.finish();
}

HereTotals read_here_totals(const view::JsonFields& json) {
  return {read_counts(json, "states"), json.number<std::size_t>("lists"),
          json.number<std::size_t>("running"), json.number<std::uint64_t>("leases_lost"),
          json.number<std::size_t>("leases_lost_now")};
}

}  // namespace w8y

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

using view::Field;
using view::field;
using view::JsonFields;
using view::Number;
using view::Surface;

/// Object with a number for each state.
struct Counts {
  using Map = std::map<std::string, std::size_t>;
  static void write(core::JsonObject& json, std::string_view name, const Map& counts, Surface) {
    core::AsciiObject object(128);
    for (const auto& [state, count] : counts) object.put(state, count);
    json.put_json(name, object.finish());
  }
  static void read(const JsonFields& json, std::string_view name, Map& counts) {
    if (const auto object = json.object(name))
      for (const std::string& state : object->names())
        counts[state] = object->number<std::size_t>(state);
  }
};

using S = FleetSummary;
constexpr Field<S> summary_fields[] = {
    field<S, Counts, &S::host_states>("hosts", view::api),
    field<S, Number, &S::omitted>("omitted_hosts", view::api),
    field<S, view::Text<>, &S::error>("error", view::api),
    {"slots", view::api, view::write_slots<S>, view::read_slots<S>},
    field<S, Number, &S::lists>("lists", view::api),
    field<S, Counts, &S::states>("states", view::api),
    field<S, Number, &S::running>("running", view::api),
};

using H = HereTotals;
constexpr Field<H> here_fields[] = {
    field<H, Number, &H::lists>("lists", view::api),
    field<H, Counts, &H::states>("states", view::api),
    field<H, Number, &H::running>("running", view::api),
    field<H, Number, &H::leases_lost>("leases_lost", view::api),
    field<H, Number, &H::lost_now>("leases_lost_now", view::api),
};

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
  // All hosts have an open breaker in common. Its text has durations, which differ by host.
  const bool same_breaker = state == list.state && state == ListState::breaker_open;
  equal_ = paused || hosts == 0 ||
           (equal_ && (same_breaker || (state == list.state && why == list.why)));
  if (paused || hosts == 0 || same_breaker ||
      nearness < std::pair(distance_of(state), std::string_view(host_))) {
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
  const auto counted = running_in(stats);
  if (!counted) return;
  running = static_cast<std::size_t>(*counted);
  // The statistics and the reports have different ages, and also another program may run an item.
  if (running == 0 || state != ListState::idle) return;
  state = ListState::running;
  why.clear();
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
  view::put_fields(json, summary_fields, summary, view::api);
  return json.finish();
}

FleetSummary read_fleet_summary(const view::JsonFields& json) {
  FleetSummary summary;
  view::read_fields(json, summary_fields, summary, view::api);
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
  view::put_fields(json, here_fields, totals, view::api);
  return json.finish();
}

HereTotals read_here_totals(const view::JsonFields& json) {
  HereTotals totals;
  view::read_fields(json, here_fields, totals, view::api);
  return totals;
}

}  // namespace w8y

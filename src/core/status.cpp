#include "core/status.hpp"

#include <span>
#include <utility>

#include "core/units.hpp"

namespace w8y {

RunCounters& RunCounters::operator+=(const RunCounters& more) {
  claimed += more.claimed;
  succeeded += more.succeeded;
  failed += more.failed;
  crashed += more.crashed;
  timed_out += more.timed_out;
  cancelled += more.cancelled;
  lost += more.lost;
  bad_lines += more.bad_lines;
  leases_lost += more.leases_lost;
  used += more.used;
  return *this;
}

std::string why_slow(const ListStatus& list) {
  if (list.overdue_after == Duration{0} || !list.stats) return {};
  const ListStats& stats = *list.stats;
  const auto over = [&](const std::optional<WallTime>& time) {
    return time && *time > list.overdue_after;
  };
  std::string text;
  if (over(stats.cycle)) text = "a cycle takes " + rough_duration(*stats.cycle);
  if (over(stats.longest_wait))
    text += (text.empty() ? "an item" : ", and an item") + std::string(" has waited for ") +
            rough_duration(*stats.longest_wait);
  if (text.empty()) return {};
  text += "; overdue_after is " + format_duration(list.overdue_after);
  if (stats.slots_needed && stats.slots)
    text += "; needs " + std::to_string(*stats.slots_needed) +
            (*stats.slots_needed == 1 ? " slot, has " : " slots, has ") +
            std::to_string(*stats.slots);
  return text;
}

namespace {

constexpr std::pair<HostState, const char*> host_states[] = {{HostState::starting, "starting"},
                                                             {HostState::running, "running"},
                                                             {HostState::quiet, "quiet"},
                                                             {HostState::draining, "draining"}};

constexpr std::pair<ListState, const char*> list_states[] = {
    {ListState::running, "running"},   {ListState::idle, "idle"},
    {ListState::full, "full"},         {ListState::unavailable, "unavailable"},
    {ListState::starved, "starved"},   {ListState::breaker_open, "breaker_open"},
    {ListState::paused, "paused"},     {ListState::quiet, "quiet"},
    {ListState::probing, "probing"},   {ListState::ineligible, "ineligible"},
    {ListState::disabled, "disabled"}, {ListState::draining, "draining"},
};

template <class State>
const char* name_in(std::span<const std::pair<State, const char*>> states, State state) {
  for (const auto& [each, name] : states)
    if (each == state) return name;
  return "?";
}

template <class State>
std::optional<State> state_in(std::span<const std::pair<State, const char*>> states,
                              std::string_view name) {
  for (const auto& [state, each] : states)
    if (name == each) return state;
  return std::nullopt;
}

}  // namespace

const char* state_name(HostState state) {
  return name_in<HostState>(host_states, state);
}

const char* state_name(ListState state) {
  return name_in<ListState>(list_states, state);
}

std::optional<HostState> host_state(std::string_view name) {
  return state_in<HostState>(host_states, name);
}

std::optional<ListState> list_state(std::string_view name) {
  return state_in<ListState>(list_states, name);
}

const char* state_name(RunStatus::State state) {
  switch (state) {
    case RunStatus::State::running:
      return "running";
    case RunStatus::State::stopping:
      return "stopping";
    case RunStatus::State::settling:
      return "settling";
  }
  return "?";
}

}  // namespace w8y

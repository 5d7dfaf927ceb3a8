#include "core/status.hpp"

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
  return *this;
}

std::string why_slow(const ListStatus& list) {
  if (list.visit_within == Duration{0} || !list.figures) return {};
  const ListFigures& figures = *list.figures;
  const auto over = [&](const std::optional<WallTime>& time) {
    return time && *time > list.visit_within;
  };
  std::string text;
  if (over(figures.lap)) text = "a lap takes " + rough_duration(*figures.lap);
  if (over(figures.oldest))
    text += (text.empty() ? "an item" : ", and an item") + std::string(" has waited for ") +
            rough_duration(*figures.oldest);
  if (text.empty()) return {};
  text += ", where visit_within is " + format_duration(list.visit_within);
  if (figures.places_needed && figures.places)
    text += "; needs " + std::to_string(*figures.places_needed) +
            (*figures.places_needed == 1 ? " place, has " : " places, has ") +
            std::to_string(*figures.places);
  return text;
}

const char* state_name(HostState state) {
  switch (state) {
    case HostState::starting:
      return "starting";
    case HostState::running:
      return "running";
    case HostState::quiet:
      return "quiet";
    case HostState::draining:
      return "draining";
  }
  return "?";
}

const char* state_name(ListState state) {
  switch (state) {
    case ListState::running:
      return "running";
    case ListState::idle:
      return "idle";
    case ListState::full:
      return "full";
    case ListState::unavailable:
      return "unavailable";
    case ListState::starved:
      return "starved";
    case ListState::paused:
      return "paused";
    case ListState::quiet:
      return "quiet";
    case ListState::probing:
      return "probing";
    case ListState::refused:
      return "refused";
    case ListState::disabled:
      return "disabled";
    case ListState::draining:
      return "draining";
  }
  return "?";
}

const char* state_name(RunStatus::State state) {
  switch (state) {
    case RunStatus::State::running:
      return "running";
    case RunStatus::State::stopping:
      return "stopping";
  }
  return "?";
}

}  // namespace w8y

#include <w8y/status.hpp>

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

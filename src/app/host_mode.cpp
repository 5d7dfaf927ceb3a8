#include "app/host_mode.hpp"

#include <utility>

namespace w8y::app {

namespace {

using Kind = api::CommandResult::Kind;

api::CommandResult is_draining() {
  return {Kind::refused, "this host is draining", {}, {}};
}

}  // namespace

api::CommandResult HostMode::quiet() {
  if (draining_) return is_draining();
  if (!std::exchange(quiet_, true)) {
    update_quiet();
    events_.on_event(HostChanged{HostState::quiet, {}, 0});
  }
  return {Kind::done, "host is quiet: it starts no runs until w8yctl resume", {}, {}};
}

api::CommandResult HostMode::resume() {
  if (draining_) return is_draining();
  if (!quiet_) return {Kind::done, "host was not quiet", {}, {}};
  quiet_ = false;
  update_quiet();
  events_.on_event(HostChanged{HostState::running, {}, 0});
  return {Kind::done, "host resumed: it starts runs again", {}, {}};
}

void HostMode::lists_served() {
  served_ = true;
  report_ready();
}

void HostMode::redis_changed(RedisState state) {
  redis_ = state;
  update_quiet();
  report_ready();
}

void HostMode::formats_compared(const std::optional<std::string>& conflict) {
  conflict_ = conflict;
  supervisor_.set_hold(conflict ? *conflict : "waits until the heartbeats of the fleet are read");
  report_ready();
}

void HostMode::update_quiet() {
  supervisor_.set_quiet(quiet_ || redis_ == RedisState::unsupported_version);
}

/// A conflict of formats lasts until an operator ends it. A host in conflict still becomes ready,
/// so that systemd does not stop it: it responds to queries and reports the remedy.
void HostMode::report_ready() {
  if (ready_ || !served_ || redis_ != RedisState::available || !conflict_ || draining_) return;
  ready_ = true;
  events_.on_event(HostReady{supervisor_.lists().size(), supervisor_.config_hash()});
  on_ready();
}

HostState HostMode::state() const {
  if (draining_) return HostState::draining;
  if (quiet_) return HostState::quiet;
  return ready_ ? HostState::running : HostState::starting;
}

}  // namespace w8y::app

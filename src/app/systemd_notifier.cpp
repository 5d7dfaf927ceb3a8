#include "app/systemd_notifier.hpp"

#include <string>
#include <variant>

namespace w8y::app {

void SystemdNotifier::on_event(const Event& event) {
  if (const auto* ready = std::get_if<HostReady>(&event)) {
    ready_ = true;
    notify_.ready("serving " + std::to_string(ready->lists) + " lists");
  } else if (const auto* host = std::get_if<HostChanged>(&event)) {
    const char* state = state_name(host->state);
    if (host->state == HostState::draining) return notify_.stopping(state);
    notify_.status(state);
  } else if (std::holds_alternative<ReloadStarted>(event)) {
    if (ready_) notify_.reloading();
  } else if (const auto* reload = std::get_if<Reloaded>(&event)) {
    if (!ready_) return;
    notify_.ready((reload->applied ? std::string() : "failed: ") + std::string(reload->text));
  }
}

/// Feeds the watchdog only while timers run in time, and polls and lease renewals make progress.
void SystemdNotifier::feed_watchdog() {
  if (!notify_.watchdog()) return;
  if (in_time_()) notify_.feed_watchdog();
  watchdog_.set(clock_.now() + *notify_.watchdog() / 2, [this] { feed_watchdog(); });
}

}  // namespace w8y::app

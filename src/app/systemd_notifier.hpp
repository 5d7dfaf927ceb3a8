// Reports the state of w8yd to systemd, and feeds its watchdog.
#pragma once

#include <functional>

#include "core/clock.hpp"
#include "core/events.hpp"
#include "core/subsystem.hpp"
#include "core/timers.hpp"
#include "ops/sd_notify.hpp"

namespace w8y::app {

class SystemdNotifier final : public Subsystem, public EventHandler {
 public:
  /// `in_time` returns whether polls and lease renewals make progress.
  SystemdNotifier(const Clock& clock, TimerQueue& timers, std::function<bool()> in_time)
      : clock_(clock), in_time_(std::move(in_time)), watchdog_(timers) {}

  void start(const Config&) override { feed_watchdog(); }
  void on_event(const Event& event) override;
  [[nodiscard]] bool listens() const override { return false; }

 private:
  void feed_watchdog();

  const Clock& clock_;
  const std::function<bool()> in_time_;
  ops::SdNotify notify_;
  bool ready_ = false;
  Timer watchdog_;
};

}  // namespace w8y::app

// Notifies systemd of the state of the service (sd_notify(3)). Without systemd, or without the
// library, every call does nothing.
#pragma once

#include <optional>
#include <string_view>

#include "core/clock.hpp"

namespace w8y::ops {

class SdNotify {
 public:
  /// Reads the interval of the watchdog from the environment.
  SdNotify();

  void ready(std::string_view status);
  /// Notifies systemd of a reload. Call ready() when it has ended, with or without success.
  void reloading();
  void stopping(std::string_view status);
  /// Sets the line that `systemctl status` shows.
  void status(std::string_view text);
  /// Interval within which systemd expects feed_watchdog(): call it twice as often. nullopt: no
  /// watchdog.
  [[nodiscard]] std::optional<Duration> watchdog() const { return watchdog_; }
  void feed_watchdog();

 private:
  std::optional<Duration> watchdog_;
};

}  // namespace w8y::ops

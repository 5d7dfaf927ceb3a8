// Telling systemd how the service is (sd_notify(3)). Without systemd, or without the library, every
// call does nothing.
#pragma once

#include <optional>
#include <string_view>

#include "core/clock.hpp"

namespace w8y::ops {

class SdNotify {
 public:
  /// Reads the watchdog's interval from the environment.
  SdNotify();

  void ready(std::string_view status);
  /// Followed by ready() when the reload is over, whatever came of it.
  void reloading();
  void stopping(std::string_view status);
  /// One line for `systemctl status`.
  void status(std::string_view text);
  /// How long systemd waits for feed_watchdog(): feed it twice as often. nullopt: it doesn't.
  [[nodiscard]] std::optional<Duration> watchdog() const { return watchdog_; }
  void feed_watchdog();

 private:
  std::optional<Duration> watchdog_;
};

}  // namespace w8y::ops

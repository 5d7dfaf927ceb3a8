#include "ops/sd_notify.hpp"

#ifdef W8Y_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include <cstdint>
#include <ctime>
#include <string>

#include "core/escape.hpp"

namespace w8y::ops {

namespace {

void send([[maybe_unused]] const std::string& state) {
#ifdef W8Y_HAVE_SYSTEMD
  sd_notify(0, state.c_str());
#endif
}

/// A newline would start another assignment.
std::string status_line(std::string_view text) {
  return "STATUS=" + escape(text);
}

}  // namespace

SdNotify::SdNotify() {
#ifdef W8Y_HAVE_SYSTEMD
  std::uint64_t interval = 0;
  if (sd_watchdog_enabled(0, &interval) > 0)
    watchdog_ = std::chrono::microseconds(static_cast<Duration::rep>(interval));
#endif
}

void SdNotify::ready(std::string_view status) {
  send("READY=1\n" + status_line(status));
}

void SdNotify::reloading() {
  timespec now{};  // Type=notify-reload compares it to CLOCK_MONOTONIC
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds.count()));
}

void SdNotify::stopping(std::string_view status) {
  send("STOPPING=1\n" + status_line(status));
}

void SdNotify::status(std::string_view text) {
  send(status_line(text));
}

void SdNotify::feed_watchdog() {
  if (watchdog_) send("WATCHDOG=1");
}

}  // namespace w8y::ops

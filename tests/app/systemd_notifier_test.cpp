#include "app/systemd_notifier.hpp"

#include <doctest/doctest.h>

#include <string>

#include "app_support.hpp"
#include "support/notify_socket.hpp"

using namespace w8y;
using namespace w8y::test;

#ifdef W8Y_HAVE_SYSTEMD
TEST_CASE("a reload before the host is ready does not reach systemd") {
  const NotifySocket systemd;
  FakeClock clock;
  TimerQueue timers;
  app::SystemdNotifier notifier(clock, timers, [] { return true; });

  notifier.on_event(ReloadStarted{"config.toml"});
  notifier.on_event(Reloaded{true, 2, "1 change"});
  CHECK(systemd.receive().empty());

  notifier.on_event(HostReady{3, "hash"});
  CHECK(systemd.receive() == "READY=1\nSTATUS=serving 3 lists");
  notifier.on_event(ReloadStarted{"config.toml"});
  CHECK(systemd.receive().starts_with("RELOADING=1\n"));
  notifier.on_event(Reloaded{true, 3, "1 change"});
  CHECK(systemd.receive() == "READY=1\nSTATUS=1 change");
}
#endif

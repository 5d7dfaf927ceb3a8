#include "ops/sd_notify.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "ops_support.hpp"
#include "support/notify_socket.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace w8y::test;

#ifdef W8Y_HAVE_SYSTEMD
TEST_CASE("systemd is notified of each state of the service") {
  const NotifySocket systemd;
  setenv("WATCHDOG_USEC", "10000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);

  SdNotify notify;
  CHECK(notify.watchdog() == std::chrono::seconds(10));
  notify.ready("2 lists\nREADY=0");
  CHECK(systemd.receive() == "READY=1\nSTATUS=2 lists\\nREADY=0");
  notify.reloading();
  CHECK(systemd.receive().rfind("RELOADING=1\nMONOTONIC_USEC=", 0) == 0);
  notify.status("3 running");
  CHECK(systemd.receive() == "STATUS=3 running");
  notify.feed_watchdog();
  CHECK(systemd.receive() == "WATCHDOG=1");
  notify.stopping("draining");
  CHECK(systemd.receive() == "STOPPING=1\nSTATUS=draining");

  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
}
#endif

TEST_CASE("a service without systemd sends no notification") {
  SdNotify notify;
  CHECK_FALSE(notify.watchdog());
  notify.ready("x");
  notify.feed_watchdog();
}

#include "ops/notify.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "ops_support.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::ops::test;

#ifdef W8Y_HAVE_SYSTEMD
TEST_CASE("systemd hears what the service does") {
  const TempDir folder;
  const std::string path = folder / "notify";
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const auto heard = [&] {
    char buffer[1024];
    const ssize_t size = recv(fd, buffer, sizeof buffer, 0);
    return std::string(buffer, size > 0 ? static_cast<std::size_t>(size) : 0);
  };
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  setenv("WATCHDOG_USEC", "10000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);

  Notify notify;
  CHECK(notify.watchdog() == std::chrono::seconds(10));
  notify.ready("2 lists\nREADY=0");
  CHECK(heard() == "READY=1\nSTATUS=2 lists\\nREADY=0");
  notify.reloading();
  CHECK(heard().rfind("RELOADING=1\nMONOTONIC_USEC=", 0) == 0);
  notify.status("3 running");
  CHECK(heard() == "STATUS=3 running");
  notify.feed_watchdog();
  CHECK(heard() == "WATCHDOG=1");
  notify.stopping("draining");
  CHECK(heard() == "STOPPING=1\nSTATUS=draining");

  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
  close(fd);
}
#endif

TEST_CASE("without systemd nothing happens") {
  Notify notify;
  CHECK_FALSE(notify.watchdog());
  notify.ready("x");
  notify.feed_watchdog();
}

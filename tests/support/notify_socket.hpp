// Service manager's end of NOTIFY_SOCKET.
#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "support/temp_dir.hpp"

namespace w8y::test {

/// Datagram socket, to which NOTIFY_SOCKET points during the lifetime of the object.
class NotifySocket {
 public:
  NotifySocket() {
    const std::string path = directory_ / "notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~NotifySocket() {
    unsetenv("NOTIFY_SOCKET");
    close(fd_);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  /// Returns the next message, empty if there is none.
  [[nodiscard]] std::string receive() const {
    char buffer[1024];
    const ssize_t size = recv(fd_, buffer, sizeof buffer, 0);
    return std::string(buffer, size > 0 ? static_cast<std::size_t>(size) : 0);
  }

 private:
  const TempDir directory_;
  const int fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
};

}  // namespace w8y::test

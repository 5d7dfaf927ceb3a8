// Client that may send any bytes, even one by one.
#pragma once

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

// Declares the namespaces of the using-directives below, because a test may include headers of only
// some of them.
namespace w8y::http {}
namespace w8y::api {}
namespace w8y::page {}

namespace w8y::ops::test {

using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;

class RawClient {
 public:
  explicit RawClient(const std::string& path)
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  /// Connects over TCP on this host.
  explicit RawClient(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] int fd() const { return fd_; }

  /// Returns false if the server has closed the connection.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// Waits at most `ms` for the server to close the connection. Returns whether it has.
  [[nodiscard]] bool closed_within(int ms) const {
    pollfd poll_fd = {fd_, POLLRDHUP, 0};
    return poll(&poll_fd, 1, ms) > 0;
  }

  /// Receives until the server closes the connection, or sends nothing for `silence_ms`.
  [[nodiscard]] std::string receive(int silence_ms = 30000) const {
    std::string all;
    for (;;) {
      pollfd poll_fd = {fd_, POLLIN, 0};
      if (poll(&poll_fd, 1, silence_ms) <= 0) return all;
      char buffer[65536];
      const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
      if (count <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(count));
    }
  }

  [[nodiscard]] std::string receive_until(std::string_view mark) const {
    std::string all;
    while (all.find(mark) == std::string::npos) {
      pollfd poll_fd = {fd_, POLLIN, 0};
      if (poll(&poll_fd, 1, 30000) <= 0) return all;
      char character = 0;
      if (recv(fd_, &character, 1, 0) <= 0) return all;
      all += character;
    }
    return all;
  }

 private:
  int fd_;
  bool connected_ = false;
};

}  // namespace w8y::ops::test

#include "http/tcp_listener.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace w8y::http {

namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address_of(const StatusAddress& address) {
  SocketAddress result;
  if (address.ipv6) {
    auto* to = reinterpret_cast<sockaddr_in6*>(&result.storage);
    to->sin6_family = AF_INET6;
    to->sin6_port = htons(address.port);
    inet_pton(AF_INET6, address.ip.c_str(), &to->sin6_addr);
    result.size = sizeof *to;
  } else {
    auto* to = reinterpret_cast<sockaddr_in*>(&result.storage);
    to->sin_family = AF_INET;
    to->sin_port = htons(address.port);
    inet_pton(AF_INET, address.ip.c_str(), &to->sin_addr);
    result.size = sizeof *to;
  }
  return result;
}

}  // namespace

TcpListener::TcpListener(const StatusAddress& address) : address_(address.text) {
  const auto fail = [this](int error) {
    if (error == EADDRINUSE) throw SocketInUse(address_, {});
    throw std::runtime_error("cannot listen on " + address_ + ": " + std::strerror(error));
  };
  const SocketAddress at = socket_address_of(address);
  fd_ = Fd(socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd_) fail(errno);
  const int on = 1;
  // Connections of the previous w8yd that wait for their last packets do not prevent the start.
  setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // "[::]" does not include "0.0.0.0": each address family has its own socket.
  if (address.ipv6) setsockopt(fd_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at.storage), at.size) != 0) fail(errno);
  if (listen(fd_.get(), SOMAXCONN) != 0) fail(errno);
}

}  // namespace w8y::http

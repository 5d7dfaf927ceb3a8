// Listening TCP socket.
#pragma once

#include <string>

#include "core/fd.hpp"
#include "http/listener.hpp"

namespace w8y::http {

class TcpListener final : public Listener {
 public:
  /// Throws SocketInUse, or std::runtime_error if this host does not have the address or must not
  /// use the port.
  explicit TcpListener(const StatusAddress& address);

  int release() override { return fd_.release(); }
  [[nodiscard]] std::string address() const override { return address_; }

 private:
  std::string address_;
  Fd fd_;
};

}  // namespace w8y::http

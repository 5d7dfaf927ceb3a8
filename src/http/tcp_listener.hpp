// Listening TCP socket.
#pragma once

#include "http/listener.hpp"

namespace w8y::http {

class TcpListener final : public Listener {
 public:
  /// Throws SocketInUse, or std::runtime_error if this host does not have the address or must not
  /// use the port.
  explicit TcpListener(const StatusAddress& address);
  ~TcpListener() override;
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  int release() override;
  [[nodiscard]] std::string address() const override { return address_; }

 private:
  void bind_and_listen(const StatusAddress& address);

  std::string address_;
  int fd_ = -1;
};

}  // namespace w8y::http

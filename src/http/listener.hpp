// Listening socket of any kind.
#pragma once

#include <sys/types.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "core/status_address.hpp"

namespace w8y::http {

/// Process that listens at an address.
struct SocketHolder {
  pid_t pid = 0;     ///< process ID; 0 = not known
  std::string name;  ///< name of the program; empty: not known
  /// Returns text such as "w8yd (pid 17)" or "another program".
  [[nodiscard]] std::string to_string() const;
};

class SocketInUse : public std::runtime_error {
 public:
  /// `address`: path of a unix socket, or IP address and port.
  SocketInUse(const std::string& address, const SocketHolder& holder);
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// Returns the descriptor. The caller must close it.
  virtual int release() = 0;
  /// Returns the path, or the IP address and port, for messages.
  [[nodiscard]] virtual std::string address() const = 0;
};

/// Throws SocketInUse, or std::runtime_error with the address if the address is not available.
std::unique_ptr<Listener> listen_at(const StatusAddress& address);

}  // namespace w8y::http

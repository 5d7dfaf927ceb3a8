// A socket that listens, whatever its kind.
#pragma once

#include <sys/types.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "core/status_address.hpp"

namespace w8y::http {

/// Who listens at an address.
struct SocketHolder {
  pid_t pid = 0;     ///< 0: not known
  std::string name;  ///< of the program; empty: not known
  /// "w8yd (pid 17)", "another program".
  [[nodiscard]] std::string to_string() const;
};

class SocketInUse : public std::runtime_error {
 public:
  /// `address`: a unix socket's path, or an IP address and its port.
  SocketInUse(const std::string& address, const SocketHolder& holder);
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// Hands the descriptor over: it is the caller's to close.
  virtual int release() = 0;
  /// For people: the path, or the IP address and port.
  [[nodiscard]] virtual std::string address() const = 0;
};

/// Throws SocketInUse; std::runtime_error, which names the address, if it can't be had.
std::unique_ptr<Listener> listen_at(const StatusAddress& address);

}  // namespace w8y::http

#include "http/listener.hpp"

#include "http/tcp_listener.hpp"
#include "http/unix_listener.hpp"

namespace w8y::http {

std::string SocketHolder::to_string() const {
  if (pid == 0) return "another program";
  return (name.empty() ? "a program" : name) + " (pid " + std::to_string(pid) + ")";
}

SocketInUse::SocketInUse(const std::string& address, const SocketHolder& holder)
    : std::runtime_error(std::string("the status ") +
                         (address.find('/') != std::string::npos ? "socket" : "address") +
                         " is in use by " + holder.to_string() + ": " + address) {}

std::unique_ptr<Listener> listen_at(const StatusAddress& address) {
  if (address.is_unix()) return std::make_unique<UnixListener>(address.path);
  return std::make_unique<TcpListener>(address);
}

}  // namespace w8y::http

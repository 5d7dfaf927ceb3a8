// Resolves the name of a server to the addresses that a socket can connect to.
#pragma once

#include <sys/socket.h>
#include <uv.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace w8y::loop {

class Loop;

/// Location of a server.
struct Endpoint {
  std::string host;  ///< a name or an address
  std::uint16_t port = 0;
  std::string path = {};  ///< of a Unix socket; empty: TCP
};

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] int family() const { return storage.ss_family; }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Addresses that need no name server: socket paths, numeric addresses, and localhost, which is
/// this machine regardless of the resolver (RFC 6761). nullopt: a Lookup is needed.
std::optional<std::vector<Address>> known_addresses(const Endpoint& place);

/// One query to the resolver of the system, on another thread. The destructor discards the reply.
class Lookup {
 public:
  /// `why` is the error if there are no addresses.
  using Callback = std::function<void(std::vector<Address> addresses, const std::string& why)>;

  /// Starts the query. The loop calls `callback` exactly once.
  Lookup(loop::Loop& loop, const std::string& host, std::uint16_t port, Callback callback);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  static void on_answer(uv_getaddrinfo_t* request, int status, addrinfo* found);

  uv_getaddrinfo_t* request_;  // freed by its callback, maybe after the destructor
  Callback callback_;
};

}  // namespace w8y::loop

// From the name of a server to the addresses that a socket can connect to.
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

/// Where a server is.
struct Endpoint {
  std::string host;  ///< a name or an address
  std::uint16_t port = 0;
  std::string path = {};  ///< of a unix socket; empty: TCP
};

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] int family() const { return storage.ss_family; }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// What needs no name server: socket paths, numeric addresses, and localhost, which is this machine
/// whatever a resolver says (RFC 6761). nullopt: it takes a Lookup.
std::optional<std::vector<Address>> known_addresses(const Endpoint& place);

/// One question to the system's resolver, off the loop's thread. Destroying it forgets the answer.
class Lookup {
 public:
  /// `why` says what went wrong if there are no addresses.
  using Callback = std::function<void(std::vector<Address> addresses, const std::string& why)>;

  /// Called back from the loop, exactly once.
  Lookup(loop::Loop& loop, const std::string& host, std::uint16_t port, Callback callback);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  static void on_answer(uv_getaddrinfo_t* request, int status, addrinfo* found);

  uv_getaddrinfo_t* request_;  // freed by its own callback, which may come after this is gone
  Callback callback_;
};

}  // namespace w8y::loop

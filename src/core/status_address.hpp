// Where the status API listens, as `status` of the config names it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace w8y {

/// A unix socket, or an IP address and a port.
struct StatusAddress {
  std::string text;  ///< as the config has it: "unix:/path", "127.0.0.1:9158", "[::1]:9158"
  std::string path;  ///< of a unix socket; empty: TCP
  std::string ip;    ///< without brackets
  bool ipv6 = false;
  std::uint16_t port = 0;

  [[nodiscard]] bool is_unix() const { return !path.empty(); }
};

/// Takes an address apart. Returns what would be right where it is none ("must be …"); empty: it is
/// one.
std::string parse_status_address(std::string_view text, StatusAddress& into);

/// "127.0.0.1", "::1": nothing that has to be looked up.
bool is_ip_address(const std::string& text);

}  // namespace w8y

// Address of the status API, from `status` in the config.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace w8y {

/// A unix socket, or an IP address and a port.
struct StatusAddress {
  std::string text;  ///< as in the config: "unix:/path", "127.0.0.1:9158", "[::1]:9158"
  std::string path;  ///< path of a unix socket; empty = TCP
  std::string ip;    ///< without brackets
  bool ipv6 = false;
  std::uint16_t port = 0;

  [[nodiscard]] bool is_unix() const { return !path.empty(); }
};

/// Parses an address. Returns the valid forms ("must be …") if it is invalid; empty if it is valid.
std::string parse_status_address(std::string_view text, StatusAddress& into);

/// Returns whether the text is an IP address ("127.0.0.1", "::1") and needs no DNS lookup.
bool is_ip_address(const std::string& text);

}  // namespace w8y

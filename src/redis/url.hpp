// The forms of a Redis URL (`url` in w8y.toml(5)).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/secret.hpp"

namespace w8y::redis {

struct HostPort {
  std::string host = "localhost";
  std::uint16_t port = 6379;
  bool operator==(const HostPort&) const = default;
  auto operator<=>(const HostPort&) const = default;
  /// "host:port", an IPv6 address in brackets.
  [[nodiscard]] std::string to_string() const;
};

struct Url {
  /// One server, or those that know where the servers are. none: there is no Redis, and no
  /// connection is ever tried; made by hand, since no text says so.
  enum class Kind { tcp, unix_socket, sentinel, cluster, none };
  Kind kind = Kind::tcp;
  bool tls = false;             ///< not for unix_socket
  HostPort server;              ///< tcp
  std::string path;             ///< unix_socket
  std::vector<HostPort> seeds;  ///< sentinel, cluster: whom to ask, never empty
  std::string service;          ///< sentinel: the name of the primary that they watch
  std::string user;             ///< of the servers with the data, as are the two below
  Secret password;
  int db = 0;  ///< 0 in a cluster

  /// The same login, database and TLS, at one server.
  [[nodiscard]] Url at(const HostPort& place) const;
  /// Without user and password: safe to log.
  [[nodiscard]] std::string to_string() const;
};

/// What is wrong with a URL and what would be right; never contains the password.
class UrlError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

Url parse_url(std::string_view text);
/// The password has no copy of its own, unless it is written with escapes.
Url parse_secret_url(const Secret& text);

}  // namespace w8y::redis

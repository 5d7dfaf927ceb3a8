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
  /// "host:port", with an IPv6 address in brackets.
  [[nodiscard]] std::string to_string() const;
};

struct Url {
  /// Kind of a URL. tcp and unix_socket name one server, sentinel and cluster name servers that
  /// report its address. none: no Redis, and no connection is ever tried. No text has this kind;
  /// code sets it.
  enum class Kind { tcp, unix_socket, sentinel, cluster, none };
  Kind kind = Kind::tcp;
  bool tls = false;             ///< not for unix_socket
  HostPort server;              ///< tcp
  std::string path;             ///< unix_socket
  std::vector<HostPort> seeds;  ///< sentinel, cluster: servers to query, never empty
  std::string service;          ///< sentinel: the name of the primary that they watch
  std::string user;             ///< login to the servers with the data, as are the two below
  Secret password;
  int db = 0;  ///< 0 in a cluster

  /// URL of one server with the same login, database and TLS.
  [[nodiscard]] Url at(const HostPort& place) const;
  /// Text without user and password: safe to log.
  [[nodiscard]] std::string to_string() const;
};

/// Error of a URL, with the remedy. Never contains the password.
class UrlError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

Url parse_url(std::string_view text);
/// Parses a URL and makes no copy of the password, unless it is written with escapes.
Url parse_secret_url(const Secret& text);

}  // namespace w8y::redis

// The forms of a Redis URL (config.md, [redis] url).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace w8y::redis {

struct Url {
  enum class Kind { tcp, unix_socket };
  Kind kind = Kind::tcp;
  std::string host = "localhost";
  std::uint16_t port = 6379;
  std::string path;  ///< unix_socket
  std::string user;
  std::string password;
  int db = 0;

  /// Without user and password: safe to log.
  [[nodiscard]] std::string to_string() const;
};

/// What is wrong with a URL and what would be right; never contains the password.
class UrlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Url parse_url(std::string_view text);

}  // namespace w8y::redis

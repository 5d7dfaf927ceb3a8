// How to reach one Redis.
#pragma once

#include <cstddef>
#include <string>

#include "core/clock.hpp"
#include "redis/url.hpp"

namespace w8y::redis {

/// For rediss:// URLs; files are PEM and are read again at each connect.
struct TlsOptions {
  std::string ca;           ///< who may have signed the server's certificate; empty: the system's
  std::string cert;         ///< ours, if the server asks for one
  std::string key;          ///< and its key; empty: it is in the certificate's file
  std::string server_name;  ///< the name to check; empty: the host of the URL
};

constexpr std::size_t usual_max_reply = std::size_t{128} << 20;

struct ClientOptions {
  Url url;
  std::string password_file;           ///< empty: none; read again at each connect
  std::string sentinel_password_file;  ///< the same for the sentinels
  TlsOptions tls;
  Duration connect_timeout = std::chrono::seconds(5);  ///< until the handshake is accepted
  Duration command_timeout = std::chrono::seconds(5);
  /// Scripts are asked for by their hash at once, not sent in full first: for a program that lives
  /// for a call or two, on a server that others like it have used.
  bool scripts_are_known = false;
  /// Bytes; a longer reply costs the connection. See Reader for its memory.
  std::size_t max_reply = usual_max_reply;
  std::string name;  ///< CLIENT SETNAME, so that operators can tell us apart; empty: none
};

/// The password to use now: the file's (without the end of its line), else the URL's. Returns what
/// is wrong with the file, or nothing.
std::string read_password(const ClientOptions& options, Secret& password);

}  // namespace w8y::redis

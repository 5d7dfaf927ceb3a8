// Options of the connections to one Redis.
#pragma once

#include <cstddef>
#include <string>

#include "core/clock.hpp"
#include "redis/url.hpp"

namespace w8y::redis {

/// Options of rediss:// URLs. Files are PEM and are read again at each connect.
struct TlsOptions {
  std::string ca;           ///< authorities of the server's certificate; empty: those of the system
  std::string cert;         ///< certificate of the client, if the server requires one
  std::string key;          ///< its private key; empty: in the file of the certificate
  std::string server_name;  ///< name to verify; empty: the host of the URL
};

constexpr std::size_t usual_max_reply = std::size_t{128} << 20;

struct ClientOptions {
  Url url;
  std::string password_file;           ///< empty: none; read again at each connect
  std::string sentinel_password_file;  ///< the same for the Sentinels
  TlsOptions tls;
  Duration connect_timeout = std::chrono::seconds(5);  ///< until the handshake is accepted
  Duration command_timeout = std::chrono::seconds(5);
  /// Scripts are called by their hash at once and not sent in full first. For a program that makes
  /// one or two calls, on a server where other programs have run the same scripts.
  bool scripts_are_known = false;
  /// Bytes; a longer reply ends the connection. Reader describes the memory that a reply takes.
  std::size_t max_reply = usual_max_reply;
  std::string name;  ///< CLIENT SETNAME, so that operators can identify the connection; empty: none
};

/// Sets the password to use now: that of the file without its line end, else that of the URL.
/// Returns the problem of the file, or empty.
std::string read_password(const ClientOptions& options, Secret& password);

}  // namespace w8y::redis

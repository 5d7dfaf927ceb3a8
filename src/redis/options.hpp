// How to reach one Redis.
#pragma once

#include <string>

#include <w8y/clock.hpp>

#include "redis/url.hpp"

namespace w8y::redis {

struct ClientOptions {
  Url url;
  std::string password_file;                           ///< empty: none; read again at each connect
  Duration connect_timeout = std::chrono::seconds(5);  ///< until the handshake is accepted
  Duration command_timeout = std::chrono::seconds(5);
  std::string name;  ///< CLIENT SETNAME, so that operators can tell us apart; empty: none
};

/// The password to use now: the file's (without the end of its line), else the URL's. Returns what
/// is wrong with the file, or nothing.
std::string read_password(const ClientOptions& options, std::string& password);

}  // namespace w8y::redis

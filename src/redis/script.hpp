// A Lua script for Redis.
#pragma once

#include <string_view>

namespace w8y::redis {

/// It takes its last argument as the name of its call, and answers {name, reply}: one that was made
/// for another call is known by that (Client::run()). What it raises comes without a name.
/// Of literals: whoever makes one of other text keeps that as long. Copies of all scripts, made
/// before main(), would cost `w8y` a third of the memory that it touches.
struct Script {
  std::string_view name;  ///< for people
  std::string_view text;
  std::string_view sha1;  ///< of the text: 40 hex digits
};

}  // namespace w8y::redis

// Lua script for Redis.
#pragma once

#include <string_view>

namespace w8y::redis {

/// Script that receives the name of its call as its last argument and replies {name, reply}. So
/// Client::run() detects a reply to another call. Errors raised by the script carry no name. The
/// members refer to literals; text that is not a literal must outlive the script. Copies of all
/// scripts, made before main(), would add a third to the memory that `w8y` uses.
struct Script {
  std::string_view name;  ///< for people
  std::string_view text;
  std::string_view sha1;  ///< of the text: 40 hex digits
};

}  // namespace w8y::redis

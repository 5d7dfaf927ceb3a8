// A Lua script for Redis.
#pragma once

#include <string>

namespace w8y::redis {

struct Script {
  std::string name;  ///< for people
  std::string text;
  std::string sha1;  ///< of the text: 40 hex digits
};

}  // namespace w8y::redis

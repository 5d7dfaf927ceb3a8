// The Lua scripts, embedded by the build from src/redis/lua/*.lua (listed in meson.build). Each
// file's header names its keys, arguments and reply.
#pragma once

#include <string>

namespace w8y::redis {

struct Script {
  std::string name;  ///< the file's, without .lua
  std::string text;  ///< without comments and indentation
  std::string sha1;  ///< of the text: 40 hex digits, computed by the build
};

namespace scripts {
extern const Script add;
extern const Script claim;
extern const Script index;
extern const Script items;
extern const Script long_items;
extern const Script look;
extern const Script quarantine;
extern const Script release;
extern const Script remove;
extern const Script renew;
extern const Script settle;
extern const Script states;
extern const Script sweep;
extern const Script undo;
}  // namespace scripts

}  // namespace w8y::redis

// What every command of `w8yctl` can be told.
#pragma once

#include <string>

namespace w8y::ctl {

struct Options {
  // Where things are; empty: not said.
  std::string socket;
  bool socket_from_environment = false;  ///< $W8Y_SOCKET, and no option
  std::string config;
  std::string redis_url;
  std::string lock_key;
  std::string fleet;  ///< its name

  /// Redis alone: --redis-url was given and no socket, so w8yd is not asked.
  [[nodiscard]] bool only_redis() const { return socket.empty() && !redis_url.empty(); }

  std::string schedule_prefix = "redbike";

  // Of commands about feeds.
  bool base64 = false;       ///< ids and items are given in it
  bool feed_base64 = false;  ///< the name of the feed is

  /// Of commands about feeds and schedules: bytes go to a terminal as they are.
  bool raw = false;

  bool changes = false;  ///< CommandRow::changes
  bool json = false;
  bool wide = false;  ///< tables are as wide as what is in them
};

}  // namespace w8y::ctl

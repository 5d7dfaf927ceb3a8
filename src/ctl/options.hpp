// Options of all subcommands of `w8yctl`.
#pragma once

#include <string>

namespace w8y::ctl {

struct Options {
  // Addresses and names; empty: not given.
  std::string socket;
  bool socket_from_environment = false;  ///< from $W8Y_SOCKET, not from an option
  std::string config;
  std::string redis_url;
  std::string lock_key;
  std::string fleet;  ///< name of the fleet

  /// Returns whether to use Redis only: --redis-url was given and no socket, so no request is sent
  /// to w8yd.
  [[nodiscard]] bool only_redis() const { return socket.empty() && !redis_url.empty(); }

  std::string schedule_prefix = "redbike";

  // Options of subcommands for feeds.
  bool base64 = false;       ///< IDs and items are in base64
  bool feed_base64 = false;  ///< the name of the feed is in base64

  /// Subcommands for feeds and schedules: bytes are printed on a terminal unescaped.
  bool raw = false;

  bool changes = false;  ///< CommandRow::changes
  bool json = false;
  bool wide = false;  ///< tables are not limited to the width of the terminal
};

}  // namespace w8y::ctl

// A private Redis server for a host that has none (`w8yd --embedded`).
#pragma once

#include <memory>
#include <string>

#include "core/clock.hpp"

namespace w8y::process {
class ControlGroups;
}
namespace w8y::loop {
class Loop;
}

namespace w8y::ops {

struct EmbeddedRedisOptions {
  std::string directory;                                ///< data, socket, lock and pidfile
  std::string program = "redis-server";                 ///< a name is looked for in PATH
  Duration min_pause = std::chrono::milliseconds(100);  ///< before a restart; doubles each time
  Duration max_pause = std::chrono::seconds(30);
  Duration steady = std::chrono::seconds(60);  ///< up for so long: the next pause is short again
  /// Between SIGTERM and SIGKILL: it has to write what is not on disk yet.
  Duration kill_grace = std::chrono::seconds(30);
  process::ControlGroups* groups = nullptr;  ///< to give it one of its own
};

class EmbeddedRedisHandler {
 public:
  virtual ~EmbeddedRedisHandler() = default;
  /// It accepts connections, for the first time or again.
  virtual void on_redis_up() = 0;
  /// It ended by itself, or didn't start; it is tried again after `pause`.
  virtual void on_redis_down(const std::string& why, Duration pause) = 0;
  /// A line of its log: raw bytes.
  virtual void on_redis_log(const std::string& line) = 0;
  /// After stop(): it has ended.
  virtual void on_redis_stopped() = 0;
};

/// Starts redis-server on a unix socket (no TCP), with an append-only file, and starts it again
/// when it dies. Everything in the folder is for its owner only. One per folder, by a lock that
/// goes with the process.
///
/// starting: it runs, and doesn't answer yet. up. pausing: it died, and waits for its next start.
/// stopping: SIGTERM was sent. stopped: for good.
class EmbeddedRedis {
 public:
  /// Throws std::runtime_error, which says what to do: the folder can't be made, belongs to
  /// somebody else, can be written by others, or is in use; there is no such program. Handlers are
  /// called from the loop only.
  EmbeddedRedis(loop::Loop& loop, EmbeddedRedisOptions options, EmbeddedRedisHandler& handler);
  /// Kills it if it still runs: use stop() first.
  ~EmbeddedRedis();
  EmbeddedRedis(const EmbeddedRedis&) = delete;
  EmbeddedRedis& operator=(const EmbeddedRedis&) = delete;

  /// "unix:///DIR/redis.sock"
  [[nodiscard]] const std::string& url() const;
  [[nodiscard]] int pid() const;  ///< 0: not running
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// $STATE_DIRECTORY (the first, if there are several), else $XDG_STATE_HOME/w8y, else
/// ~/.local/state/w8y. Throws std::runtime_error without a home.
std::string default_embedded_directory();

}  // namespace w8y::ops

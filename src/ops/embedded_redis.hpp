// Private Redis server for a host that has none (`w8yd --embedded`).
#pragma once

#include <memory>
#include <string>

#include "core/line_splitter.hpp"
#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "ops/private_directory.hpp"
#include "process/child.hpp"

namespace w8y::ops {

struct EmbeddedRedisOptions {
  std::string directory;                                ///< data, socket, lock and pidfile
  std::string program = "redis-server";                 ///< a plain name is searched for in PATH
  Duration min_pause = std::chrono::milliseconds(100);  ///< before a restart; doubles each time
  Duration max_pause = std::chrono::seconds(30);
  Duration steady = std::chrono::seconds(60);  ///< uptime after which pauses start again
  /// Time between SIGTERM and SIGKILL, in which the server writes its data to disk.
  Duration kill_grace = std::chrono::seconds(30);
  process::ControlGroups* groups = nullptr;  ///< to give it its own control group
};

class EmbeddedRedisHandler {
 public:
  virtual ~EmbeddedRedisHandler() = default;
  /// Called when the server accepts connections, for the first time or again.
  virtual void on_redis_up() = 0;
  /// Called when the server has ended unexpectedly or did not start. It is started again after
  /// `pause`.
  virtual void on_redis_down(const std::string& why, Duration pause) = 0;
  /// Called for a line of its log: raw bytes.
  virtual void on_redis_log(const std::string& line) = 0;
  /// Called when the server has ended after stop().
  virtual void on_redis_stopped() = 0;
};

/// Starts redis-server on a Unix socket (no TCP) with an append-only file, and restarts it when it
/// ends. All its files are accessible to their owner only. A lock that ends with the process allows
/// one server per directory.
///
/// States:
///
/// - `starting` – the server runs and does not accept connections yet
/// - `up` – the server accepts connections
/// - `pausing` – the server has ended and is started again after a pause
/// - `stopping` – SIGTERM was sent
/// - `stopped` – the server has ended and is not started again
class EmbeddedRedis final : private process::ChildHandler {
 public:
  /// Throws std::runtime_error with the remedy if there is no such program, or if the directory
  /// cannot be created, belongs to another user, is writable by others, or is in use. The loop
  /// calls the handler.
  EmbeddedRedis(loop::Loop& loop, EmbeddedRedisOptions options, EmbeddedRedisHandler& handler);
  /// Kills the server if it still runs: call stop() first.
  ~EmbeddedRedis() override = default;
  EmbeddedRedis(const EmbeddedRedis&) = delete;
  EmbeddedRedis& operator=(const EmbeddedRedis&) = delete;

  /// "unix:///DIR/redis.sock"
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] int pid() const { return running() ? child_->pid() : 0; }  ///< 0: not running
  void stop();

 private:
  enum class State { starting, up, pausing, stopping, stopped };

  [[nodiscard]] bool running() const { return child_ && !ended_; }
  void start();
  void check();
  void pause(const std::string& why);
  void end();
  [[nodiscard]] process::SpawnRequest request() const;

  // process::ChildHandler
  void on_output(process::Stream stream, std::string_view bytes) override;
  void on_ended(ProcessEnd end) override;

  loop::Loop& loop_;
  EmbeddedRedisOptions options_;
  EmbeddedRedisHandler& handler_;
  PrivateDirectory directory_;
  std::string socket_;
  std::string url_;
  std::string program_;
  State state_ = State::pausing;
  Duration pause_;
  Timer timer_;  ///< next check or next start
  LineSplitter lines_;
  std::string last_line_;  ///< last line of the server's log: the reason of its end
  Instant up_since_{};
  std::unique_ptr<process::Child> child_;
  bool ended_ = false;
};

/// Returns the first directory of $STATE_DIRECTORY, else $XDG_STATE_HOME/w8y, else
/// ~/.local/state/w8y. Throws std::runtime_error if there is no home directory.
std::string default_embedded_directory();

}  // namespace w8y::ops

// redis-server for a test.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

struct redisContext;

namespace w8y::test {

/// Returns an unused port of the loopback, whose port for a cluster's bus is unused too.
int free_port();

/// Redis server on a unix socket in its own directory, and optionally on an unused port of the
/// loopback. It has its own process group, and is killed with this object and with the test.
class RedisServer {
 public:
  struct Options {
    std::vector<std::string> config = {};  ///< lines of redis.conf, after the fixture's own lines
    bool tcp = false;
    bool sentinel = false;      ///< runs as a sentinel, without data
    std::string password = {};  ///< requirepass; command() uses it
  };

  /// Starts the server and waits until it replies. Throws std::runtime_error with the server's log
  /// after one minute.
  RedisServer();
  explicit RedisServer(Options options);
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  /// Starts the server again after kill() or stop(), with the same data directory, socket and port.
  /// Without `until_loaded`, returns at the first reply, even if that is -LOADING.
  void start(bool until_loaded = true);
  void kill();    ///< SIGKILL; returns when the process has exited
  void stop();    ///< SIGTERM; returns when the process has exited
  void pause();   ///< SIGSTOP: keeps its connections, sends nothing
  void resume();  ///< SIGCONT

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const TempDir& dir() const { return dir_; }
  [[nodiscard]] std::string socket() const { return dir_ / "redis.sock"; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const;      ///< unix://…, without the password
  [[nodiscard]] std::string tcp_url() const;  ///< redis://127.0.0.1:…, without the password

  /// Executes one command on a new connection, independently of the client under test. Nil is
  /// "(nil)", elements of arrays are separated by newlines, and an error is its text.
  std::string command(const std::vector<std::string>& words) const;
  /// Returns a number from INFO.
  [[nodiscard]] long long info(const std::string& field) const;
  /// Returns the same as text, empty if there is no such field.
  [[nodiscard]] std::string info_text(const std::string& field) const;
  /// Returns the number of calls of a command by clients and scripts.
  [[nodiscard]] long long calls(const std::string& command) const;

 private:
  void write_config() const;
  [[nodiscard]] bool is_up(bool until_loaded) const;
  void reap();

  Options options_;
  TempDir dir_;
  int port_ = 0;
  pid_t pid_ = -1;
};

/// Subscriber to all channels of a server, independent of the client under test.
class PublishedMessages {
 public:
  explicit PublishedMessages(const RedisServer& server);
  /// Waits for the next message, and returns its channel and its payload.
  std::pair<std::string, std::string> next();

 private:
  std::shared_ptr<redisContext> context_;
};

}  // namespace w8y::test

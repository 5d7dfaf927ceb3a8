// A redis-server of a test's own.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

struct redisContext;

namespace w8y::test {

/// A port of the loopback that is free, as is the one that a cluster's node would use besides.
int free_port();

/// Listens on a unix socket in a folder of its own and, if asked, on a free port of the loopback.
/// In a process group of its own; killed with this object, and with the test.
class RedisServer {
 public:
  struct Options {
    std::vector<std::string> config = {};  ///< lines of redis.conf, after the fixture's own
    bool tcp = false;
    bool sentinel = false;      ///< watches others instead of keeping data
    std::string password = {};  ///< requirepass; the fixture knows it too
  };

  /// Starts, and waits until it answers. Throws std::runtime_error with the server's log if it
  /// doesn't within a minute.
  RedisServer();
  explicit RedisServer(Options options);
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  /// After kill() or stop(): again, with the same data folder, socket and port. Without
  /// `until_loaded`, it waits only until it answers at all, if with -LOADING.
  void start(bool until_loaded = true);
  void kill();    ///< SIGKILL; returns when it is gone
  void stop();    ///< SIGTERM; returns when it is gone
  void pause();   ///< SIGSTOP: keeps its connections and says nothing
  void resume();  ///< SIGCONT

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const TempDir& dir() const { return dir_; }
  [[nodiscard]] std::string socket() const { return dir_ / "redis.sock"; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const;      ///< unix://…, without the password
  [[nodiscard]] std::string tcp_url() const;  ///< redis://127.0.0.1:…, without the password

  /// One command over a connection of its own, by a client that isn't ours. Nil is "(nil)",
  /// elements of arrays are separated by newlines; an error is its text.
  std::string ask(const std::vector<std::string>& words) const;
  /// A number from INFO.
  [[nodiscard]] long long info(const std::string& field) const;
  /// The same as text; empty if there is no such field.
  [[nodiscard]] std::string info_text(const std::string& field) const;
  /// Calls of a command that clients have sent, or scripts have made.
  [[nodiscard]] long long calls(const std::string& command) const;

 private:
  void write_config() const;
  [[nodiscard]] bool answers(bool until_loaded) const;
  void reap();

  Options options_;
  TempDir dir_;
  int port_ = 0;
  pid_t pid_ = -1;
};

/// Receives all messages of a server, without the client under test.
class PublishedMessages {
 public:
  explicit PublishedMessages(const RedisServer& server);
  /// Waits for the next message: its channel and its payload.
  std::pair<std::string, std::string> next();

 private:
  std::shared_ptr<redisContext> context_;
};

}  // namespace w8y::test

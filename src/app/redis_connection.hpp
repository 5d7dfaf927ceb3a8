// Redis connection in use with its observer, and the new connection that a reload tries.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/redis_watch.hpp"
#include "core/events.hpp"
#include "core/status.hpp"
#include "core/subsystem.hpp"
#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "ops/log.hpp"
#include "redis/url.hpp"
#include "store/redis_session.hpp"

namespace w8y::app {

class RedisConnection final : public Subsystem {
 public:
  struct Parts {
    loop::Loop& loop;
    ops::LineLog& log;
    EventHandler& events;
    /// URL of the embedded server, which replaces the URL of the config; empty: there is none.
    std::function<std::string()> embedded_url;
    /// Holder of locks for a new connection, from the name of the host.
    std::function<store::RedisSession::Holder(const std::string& host)> holder;
  };
  explicit RedisConnection(Parts parts)
      : parts_(std::move(parts)), loop_(parts_.loop), log_(parts_.log), events_(parts_.events) {}

  /// Called when the state of the connection in use changes.
  std::function<void(RedisState state)> on_changed;

  void start(const Config& config) override;
  /// Uses the opened connection, if there is one. Pollers with runs on the old connection keep it
  /// until their runs are settled.
  void commit(const Config& wanted) override;
  void abandon() override { next_.reset(); }

  /// Returns whether both configs mean the same connection. Ignores `idle_commands`, which is only
  /// a budget.
  [[nodiscard]] static bool same(const Config& a, const Config& b);
  /// Opens the connection of `wanted` beside the one in use. Calls `then` once, from the loop, with
  /// the reason why it is unusable; empty: it is usable.
  using Opened = std::function<void(const std::string& why)>;
  void open(const Config& wanted, Opened then);
  [[nodiscard]] bool has_opened() const { return next_ != nullptr; }

  /// Stops reporting outages of the connection.
  void stop_watching() { in_use_->watch.reset(); }
  void reconnect_now() { in_use_->session->client.reconnect_now(); }
  [[nodiscard]] const std::shared_ptr<store::RedisSession>& session() const {
    return in_use_->session;
  }
  /// Returns whether the config has a Redis. Otherwise, the client of the session never connects.
  [[nodiscard]] bool exists() const { return options().url.kind != redis::Url::Kind::none; }
  /// Returns the options of the connection.
  [[nodiscard]] const redis::ClientOptions& options() const { return in_use_->options; }
  /// Returns the name of the host as in locks.
  [[nodiscard]] const std::string& host() const { return in_use_->session->holder.host; }
  [[nodiscard]] RedisStatus status() const;

 private:
  /// Session with the observer of its connection.
  struct Watched {
    std::shared_ptr<store::RedisSession> session;
    redis::ClientOptions options;
    std::unique_ptr<RedisWatch> watch;
  };
  /// Connection that a reload tries.
  struct Candidate {
    explicit Candidate(TimerQueue& timers) : timeout(timers), verdict(timers) {}
    std::unique_ptr<Watched> opened;
    Opened then;
    Timer timeout;
    /// Calls `then` after the callback of the connection has returned, because `then` may destroy
    /// the connection.
    Timer verdict;
  };

  std::unique_ptr<Watched> connect(const Config& config, RedisWatch::Changed changed);
  void apply_state(RedisState state);
  void conclude(std::string why);

  const Parts parts_;
  loop::Loop& loop_;
  ops::LineLog& log_;
  EventHandler& events_;
  std::unique_ptr<Watched> in_use_;
  std::unique_ptr<Candidate> next_;
};

}  // namespace w8y::app

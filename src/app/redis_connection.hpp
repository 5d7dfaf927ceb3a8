// The connection in use, who watches it, and another one that a reload tries.
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
    /// Of the embedded server, which takes the place of the config's; empty: there is none.
    std::function<std::string()> embedded_url;
    /// A new connection's, by the name of the host.
    std::function<store::RedisSession::Holder(const std::string& host)> holder;
  };
  explicit RedisConnection(Parts parts)
      : parts_(std::move(parts)), loop_(parts_.loop), log_(parts_.log), events_(parts_.events) {}

  /// Of the connection in use: what it is now.
  std::function<void(RedisState state)> on_changed;

  void start(const Config& config) override;
  /// Takes the one that was opened, if one was. Pollers that still run on the old one keep it until
  /// they have settled.
  void commit(const Config& wanted) override;
  void abandon() override { next_.reset(); }

  /// Whether both configs mean the same connection; `idle_commands` is only a budget.
  [[nodiscard]] static bool same(const Config& a, const Config& b);
  /// Opens the one that `wanted` means, beside the one in use. `then`, once and from the loop: why
  /// it can't be used; empty: it can.
  using Opened = std::function<void(const std::string& why)>;
  void open(const Config& wanted, Opened then);
  [[nodiscard]] bool has_opened() const { return next_ != nullptr; }

  /// What happens to it from now on is no trouble.
  void stop_watching() { in_use_->watch.reset(); }
  void reconnect_now() { in_use_->session->client.reconnect_now(); }
  [[nodiscard]] const std::shared_ptr<store::RedisSession>& session() const {
    return in_use_->session;
  }
  /// False: the config has none, and the session's client has never a connection.
  [[nodiscard]] bool exists() const { return options().url.kind != redis::Url::Kind::none; }
  /// How it is reached.
  [[nodiscard]] const redis::ClientOptions& options() const { return in_use_->options; }
  /// As it stands in locks.
  [[nodiscard]] const std::string& host() const { return in_use_->session->holder.host; }
  [[nodiscard]] RedisStatus status() const;

 private:
  /// A session, and who watches its connection.
  struct Watched {
    std::shared_ptr<store::RedisSession> session;
    redis::ClientOptions options;
    std::unique_ptr<RedisWatch> watch;
  };
  /// One that is tried.
  struct Candidate {
    explicit Candidate(TimerQueue& timers) : timeout(timers), verdict(timers) {}
    std::unique_ptr<Watched> opened;
    Opened then;
    Timer timeout;
    Timer verdict;  ///< not inside the connection's own call: it may go with it
  };

  std::unique_ptr<Watched> connect(const Config& config, RedisWatch::Changed changed);
  void judge(RedisState state);
  void conclude(std::string why);

  const Parts parts_;
  loop::Loop& loop_;
  ops::LineLog& log_;
  EventHandler& events_;
  std::unique_ptr<Watched> in_use_;
  std::unique_ptr<Candidate> next_;
};

}  // namespace w8y::app

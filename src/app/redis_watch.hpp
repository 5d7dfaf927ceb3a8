// Observes a connection for the log: one line at the start and one at the end of an outage or of a
// general refusal. Checks the server each time it is reached.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/events.hpp"
#include "core/timers.hpp"
#include "ops/log.hpp"
#include "redis/client.hpp"
#include "redis/server_info.hpp"
#include "store/server_clock.hpp"

namespace w8y::app {

enum class RedisState { unavailable, unsupported_version, available };

class RedisWatch final : private redis::Client::Listener, private store::ServerClock::Listener {
 public:
  using Changed = std::function<void(RedisState state)>;

  /// `starting`: the server is starting too, so that it is not an error if it is not available yet.
  RedisWatch(redis::Client& client, store::ServerClock& server_clock, const Clock& clock,
             TimerQueue& timers, const redis::Url& url, ops::LineLog& log, EventHandler& events,
             bool starting, Changed changed);
  ~RedisWatch() override;

  /// Replaces the callback.
  void on_change(Changed changed) { changed_ = std::move(changed); }
  /// Returns why Redis is unusable; empty: it is usable.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Returns since when it is unusable.
  [[nodiscard]] std::optional<Instant> since() const {
    return error_.empty() ? std::nullopt : std::optional(since_);
  }

 private:
  void on_up() override;
  void on_down(const std::string& why) override;
  void on_refusing(const std::string& why) override;
  void on_accepting() override { recovered(); }
  void on_clock_jump(const store::ServerClock::Jump& jump) override;
  void query();
  void record_list(const redis::ServerInfo& info);
  void log_weaknesses(const redis::ServerInfo& info);
  void in_error(const std::string& why);
  void recovered();

  redis::Client& client_;
  store::ServerClock& server_clock_;
  const Clock& clock_;
  std::string where_;
  std::string failover_note_;
  ops::LineLog& log_;
  EventHandler& events_;
  Changed changed_;
  bool reached_ = false;
  bool in_error_;  ///< the error is already logged, or is expected
  std::string error_;
  Instant since_{};
  bool sentinel_;
  std::optional<std::string> logged_server_;  ///< run ID of the server whose weaknesses were logged
  std::vector<std::string> weaknesses_;       ///< of that server
  Timer again_;                               ///< next check whether a replica has been promoted
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::app

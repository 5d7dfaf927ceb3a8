// Private Redis of `w8yd --embedded`, if there is one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/subsystem.hpp"
#include "loop/loop.hpp"
#include "ops/embedded_redis.hpp"
#include "ops/log.hpp"

namespace w8y::app {

class EmbeddedServer final : public Subsystem, private ops::EmbeddedRedisHandler {
 public:
  /// `directory`: nullopt if there is no embedded Redis; then each call does nothing.
  EmbeddedServer(loop::Loop& loop, ops::LineLog& log, process::ControlGroups& groups,
                 std::optional<std::string> directory)
      : loop_(loop), log_(log), groups_(groups), directory_(std::move(directory)) {}

  /// Called when Redis accepts connections, for the first time or again.
  std::function<void()> on_up;

  void start(const Config& config) override;
  void stop() override { redis_.reset(); }
  [[nodiscard]] bool exists() const { return redis_ != nullptr; }
  [[nodiscard]] const std::string& url() const { return redis_->url(); }
  /// Stops Redis. Calls `then` from the loop when Redis has written all data and has exited.
  void end(std::function<void()> then);

 private:
  void on_redis_up() override { on_up(); }
  void on_redis_down(const std::string& why, Duration pause) override;
  void on_redis_log(const std::string& line) override;
  void on_redis_stopped() override { ended_(); }

  loop::Loop& loop_;
  ops::LineLog& log_;
  process::ControlGroups& groups_;
  const std::optional<std::string> directory_;
  std::function<void()> ended_;
  std::unique_ptr<ops::EmbeddedRedis> redis_;
};

}  // namespace w8y::app

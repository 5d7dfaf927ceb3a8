// Watches a connection for the log: once when trouble begins, once when it ends; and looks at the
// server each time it is reached.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <w8y/events.hpp>

#include "ops/log.hpp"
#include "redis/client.hpp"

namespace w8y::app {

enum class RedisState { down, too_old, usable };

class RedisWatch final : private redis::Client::Listener {
 public:
  using Changed = std::function<void(RedisState state)>;

  /// `starting`: the server is being started too, so that it is not there yet is no trouble.
  RedisWatch(redis::Client& client, const redis::Url& url, ops::Log& log, EventHandler& events,
             bool starting, Changed changed);
  ~RedisWatch() override;

 private:
  void on_up() override;
  void on_down(const std::string& why) override;

  redis::Client& client_;
  std::string where_;
  ops::Log& log_;
  EventHandler& events_;
  Changed changed_;
  bool reached_ = false;
  bool in_trouble_;
  bool weaknesses_told_ = false;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::app

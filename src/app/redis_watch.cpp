#include "app/redis_watch.hpp"

#include <utility>

#include "redis/server_info.hpp"

namespace w8y::app {

RedisWatch::RedisWatch(redis::Client& client, const redis::Url& url, ops::Log& log,
                       EventHandler& events, bool starting, Changed changed)
    : redis::Client::Listener(client),
      client_(client),
      where_(url.to_string()),
      log_(log),
      events_(events),
      changed_(std::move(changed)),
      in_trouble_(starting),
      alive_(std::make_shared<bool>(true)) {}

RedisWatch::~RedisWatch() {
  *alive_ = false;
}

void RedisWatch::on_up() {
  log_.info(reached_ ? "Redis is back" : "connected to Redis", {{"redis", where_}});
  reached_ = true;
  in_trouble_ = false;
  events_.on_event(RedisChanged{true, {}});
  redis::ask_server_info(
      client_, [this, alive = alive_](const redis::ServerInfo& info, const std::string& problem) {
        if (!*alive) return;
        if (!problem.empty()) return;  // the connection has broken again, and will tell
        const std::string old = redis::too_old(info, where_);
        if (!old.empty()) {
          log_.error(old);
        } else if (!std::exchange(weaknesses_told_, true)) {
          for (const auto& sentence : redis::weaknesses(info, where_)) log_.warn(sentence);
        }
        changed_(old.empty() ? RedisState::usable : RedisState::too_old);
      });
}

void RedisWatch::on_down(const std::string& why) {
  if (!std::exchange(in_trouble_, true)) {
    log_.error("Redis can't be used; trying again", {{"redis", where_}, {"reason", why}});
    events_.on_event(RedisChanged{false, why});
  } else {
    log_.debug("Redis still can't be used", {{"redis", where_}, {"reason", why}});
  }
  changed_(RedisState::down);
}

}  // namespace w8y::app

#include "app/embedded_server.hpp"

#include <cstdio>
#include <utility>

namespace w8y::app {

void EmbeddedServer::start(const Config&) {
  if (!directory_) return;
  ops::EmbeddedRedisOptions options;
  options.directory = *directory_;
  options.groups = &groups_;
  redis_ = std::make_unique<ops::EmbeddedRedis>(loop_, options,
                                                static_cast<ops::EmbeddedRedisHandler&>(*this));
  std::printf("%s\n", url().c_str());
  std::fflush(stdout);
  log_.info("embedded Redis", {{"url", url()}});
}

void EmbeddedServer::end(std::function<void()> then) {
  ended_ = std::move(then);
  redis_->stop();
}

void EmbeddedServer::on_redis_down(const std::string& why, Duration) {
  log_.error("embedded Redis exited", {{"reason", why}});
}

void EmbeddedServer::on_redis_log(const std::string& line) {
  log_.debug("redis-server", {{"out", ops::ChildOutput{line}}});
}

}  // namespace w8y::app

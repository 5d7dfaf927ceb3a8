// Connection of a verb to Redis.
#pragma once

#include <string>
#include <utility>

#include "loop/loop.hpp"
#include "redis/sync.hpp"

namespace w8y::verbs {

/// URL, credentials, TLS and timeouts of Redis.
using Reach = redis::ClientOptions;
using redis::RedisError;

/// Returns whether Redis sent no reply, in contrast to an error.
inline bool is_unreachable(const RedisError& error) {
  return error.code() == redis::ErrorCode::none;
}

/// In a cluster, refuses a name without hash tag with 400: all keys of a list or a feed must share
/// a hash slot. `what`: "list" or "feed". `example`: such as "'{work}'".
void check_hash_tag(const Reach& reach, const char* what, const std::string& name,
                    const char* example);

/// Connects when a verb first needs Redis. The loop belongs to the caller and outlives this object.
class Connection {
 public:
  Connection(loop::Loop& loop, Reach reach)
      : reach_(std::move(reach)), loop_(loop), redis_(loop, reach_) {}

  [[nodiscard]] loop::Loop& loop() const { return loop_; }
  [[nodiscard]] const Reach& reach() const { return reach_; }
  [[nodiscard]] redis::SyncClient& redis() { return redis_; }

 private:
  const Reach reach_;
  loop::Loop& loop_;
  redis::SyncClient redis_;
};

}  // namespace w8y::verbs

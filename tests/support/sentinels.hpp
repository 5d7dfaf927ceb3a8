// Primary with replicas, and sentinels that monitor them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace w8y::test {

/// One primary, two replicas and three sentinels, which call the primary "mymaster". A server
/// counts as failed after 500 ms.
class Sentinels {
 public:
  struct Options {
    std::string password = {};           ///< of the primary and the replicas
    std::string sentinel_password = {};  ///< of the sentinels
  };

  /// Returns when all sentinels know all servers and each other.
  Sentinels();
  explicit Sentinels(const Options& options);

  /// Returns redis+sentinel://…/mymaster with these sentinels.
  [[nodiscard]] std::string url(const std::vector<std::size_t>& seeds = {0, 1, 2}) const;
  /// Returns the primary according to this sentinel.
  [[nodiscard]] RedisServer& primary(std::size_t sentinel = 0);
  /// Waits until each of these sentinels reports a primary other than `old`.
  void wait_for_failover(const RedisServer& old, const std::vector<std::size_t>& sentinels);

  std::vector<std::unique_ptr<RedisServer>> servers;
  std::vector<std::unique_ptr<RedisServer>> sentinels;
};

}  // namespace w8y::test

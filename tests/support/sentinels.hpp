// A primary with its replicas, and the sentinels that watch them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace w8y::test {

/// One primary, two replicas, three sentinels, which call it "mymaster" and miss it after half a
/// second.
class Sentinels {
 public:
  struct Options {
    std::string password = {};           ///< of the servers with the data
    std::string sentinel_password = {};  ///< of the sentinels
  };

  /// Returns when everybody knows everybody.
  Sentinels();
  explicit Sentinels(const Options& options);

  /// redis+sentinel://…/mymaster with these sentinels.
  [[nodiscard]] std::string url(const std::vector<std::size_t>& seeds = {0, 1, 2}) const;
  /// The server that the sentinel calls the primary.
  [[nodiscard]] RedisServer& primary(std::size_t sentinel = 0);
  /// Another one than `old` is the primary, says each of these sentinels.
  void wait_for_failover(const RedisServer& old, const std::vector<std::size_t>& sentinels);

  std::vector<std::unique_ptr<RedisServer>> servers;
  std::vector<std::unique_ptr<RedisServer>> sentinels;
};

}  // namespace w8y::test

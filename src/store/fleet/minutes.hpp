// Looks at what hosts of a fleet tell of their runs by the minute.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <w8y/clock.hpp>

#include "redis/client.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::store {

/// Bytes of a minute's text; more is none of ours.
inline constexpr std::size_t max_minute = std::size_t{64} << 10;

class FleetMinutes {
 public:
  struct Host {
    std::string id;
    std::vector<std::string> minutes;  ///< as they were written
  };
  using Then = std::function<void(std::vector<Host>&)>;

  /// `cluster`: keys may be on different nodes.
  FleetMinutes(redis::Client& client, const std::string& fleet, bool cluster)
      : client_(client), keys_(fleet), cluster_(cluster) {}

  /// The last `last` minutes (60 at most) up to that of `now`. `then` is called once, from the
  /// loop; dropped with this object. What can't be read is left out.
  void read(std::vector<std::string> ids, std::int64_t last, WallTime now, Then then);

 private:
  struct Round;

  void ask(const std::shared_ptr<Round>& round, std::size_t host);

  redis::Client& client_;
  const FleetKeys keys_;
  const bool cluster_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::store

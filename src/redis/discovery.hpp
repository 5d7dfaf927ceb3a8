// Where the server is: the port behind which sentinels and a cluster look alike.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "redis/options.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

/// Asks whoever knows. Nothing is told from inside its own functions; what it tells may cancel it,
/// and must not destroy it.
class Discovery {
 public:
  /// A server's own URL; or nullptr, and why there is none.
  using Found = std::function<void(const Url* place, const std::string& problem)>;
  using Moved = std::function<void(const HostPort& place)>;

  virtual ~Discovery() = default;
  /// Told once, unless it is cancelled before. One question at a time.
  virtual void find(Found found) = 0;
  virtual void cancel() = 0;
  /// From now on: the server is somewhere else. May be told again of where it is already.
  virtual void watch(Moved moved) = 0;
};

/// nullptr for the URL of one server, which is where it says.
std::unique_ptr<Discovery> make_discovery(loop::Loop& loop, const ClientOptions& options);

}  // namespace w8y::redis

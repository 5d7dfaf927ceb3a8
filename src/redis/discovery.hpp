// Interface that finds the server of a URL, the same for Sentinels and a cluster.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "redis/options.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

/// Finds the current server. It makes no callback from inside its own functions. A callback may
/// cancel it and must not destroy it.
class Discovery {
 public:
  /// Receives the URL of one server, or nullptr and the reason.
  using Found = std::function<void(const Url* place, const std::string& problem)>;
  using Moved = std::function<void(const HostPort& place)>;

  virtual ~Discovery() = default;
  /// Starts a search and calls `found` once, unless cancelled before. One search at a time.
  virtual void find(Found found) = 0;
  virtual void cancel() = 0;
  /// Calls `moved` from now on when the server is at another address. It may repeat the present
  /// address.
  virtual void watch(Moved moved) = 0;
};

/// Creates the discovery for a URL. nullptr for the URL of one server, which contains the address.
std::unique_ptr<Discovery> make_discovery(loop::Loop& loop, const ClientOptions& options);

}  // namespace w8y::redis

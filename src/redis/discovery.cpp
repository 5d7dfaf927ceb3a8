#include "redis/discovery.hpp"

#include "redis/cluster_view.hpp"
#include "redis/sentinel.hpp"

namespace w8y::redis {

std::unique_ptr<Discovery> make_discovery(loop::Loop& loop, const ClientOptions& options) {
  if (options.url.kind == Url::Kind::sentinel)
    return std::make_unique<SentinelDiscovery>(loop, options);
  if (options.url.kind == Url::Kind::cluster)
    return std::make_unique<ClusterDiscovery>(loop, options);
  return nullptr;
}

}  // namespace w8y::redis

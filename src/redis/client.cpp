#include "redis/client.hpp"

#include <utility>

#include "redis/cluster_client.hpp"
#include "redis/server_client.hpp"

namespace w8y::redis {

std::unique_ptr<Client> Client::open(loop::Loop& loop, ClientOptions options) {
  if (options.url.kind == Url::Kind::cluster)
    return std::make_unique<ClusterClient>(loop, std::move(options));
  return std::make_unique<ServerClient>(loop, std::move(options));
}

}  // namespace w8y::redis

#include "source/redis_link.hpp"

#include <utility>

#include "loop/loop.hpp"

namespace w8y::source {

namespace {

bool is_cluster(const redis::ClientOptions& options) {
  return options.url.kind == redis::Url::Kind::cluster;
}

}  // namespace

RedisLink::RedisLink(loop::Loop& loop, const redis::ClientOptions& options, Identity who)
    : detail::ClientOwner{redis::Client(loop, options)},
      redis::Client::Listener(owned),
      clock(loop.clock()),
      timers(loop.timers()),
      identity(std::move(who)),
      run_ids(identity.seed),
      client(owned),
      subscriber(loop, options),
      locks(make_lock_store(client)),
      leases(clock, timers, *locks),
      sweep(*locks, timers, clock, is_cluster(options), identity.seed),
      looks(client, timers, clock, is_cluster(options)),
      list_events(client, subscriber, timers, clock, options.url.db, is_cluster(options)) {}

RedisLink::~RedisLink() = default;

}  // namespace w8y::source

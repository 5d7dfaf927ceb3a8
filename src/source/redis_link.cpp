#include "source/redis_link.hpp"

#include <utility>

#include "loop/loop.hpp"

namespace w8y::source {

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
      leases(clock, timers, *locks) {}

RedisLink::~RedisLink() = default;

}  // namespace w8y::source

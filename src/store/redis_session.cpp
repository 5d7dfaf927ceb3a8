#include "store/redis_session.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "loop/loop.hpp"
#include "store/lock_value.hpp"

namespace w8y::store {

namespace {

bool is_cluster(const redis::ClientOptions& options) {
  return options.url.kind == redis::Url::Kind::cluster;
}

}  // namespace

std::string RedisSession::Holder::lock(std::string_view run) const {
  constexpr std::uint64_t different = 10'000;
  std::string number = std::to_string(pid);
  if (pid_is_shared) number += '.' + std::to_string(seed % different);
  return running_lock(host, number, run);
}

RedisSession::RedisSession(loop::Loop& loop, const redis::ClientOptions& options, Holder who)
    : detail::ClientOwner{redis::Client::open(loop, options)},
      redis::Client::Listener(*owned),
      clock(loop.clock()),
      timers(loop.timers()),
      holder(std::move(who)),
      user(options.url.user),
      run_ids(holder.seed),
      client(*owned),
      in_cluster(is_cluster(options)),
      subscriber(loop, options),
      server_clock(client, timers, clock, in_cluster),
      tracking(loop, client, subscriber, in_cluster),
      circular(client, tracking, timers, clock, server_clock, in_cluster, holder.host, holder.seed),
      leases(clock, timers),
      in_doubt_claims(client, clock) {}

RedisSession::~RedisSession() = default;

void RedisSession::large_answered(const LargeCall& call) {
  if (client.commands_sent() - call.commands <= 1) return;
  constexpr Duration longest = std::chrono::seconds(1);
  const Instant now = clock.now();
  large_after_ = std::max(large_after_, now + std::min((now - call.sent) * 2, longest));
}

}  // namespace w8y::store

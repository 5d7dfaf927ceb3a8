#include "app/redis_connection.hpp"

#include <utility>

#include "config/loading.hpp"

namespace w8y::app {

namespace {

/// Maximum size of a reply: 1/4 of the memory that a reply may cost w8yd (w8y-security(7)). While a
/// reply arrives, it is in memory twice. Its receiver may then have the reply, a copy, and as much
/// memory again for data made from the copy.
constexpr std::size_t max_reply = std::size_t{64} << 20;

}  // namespace

bool RedisConnection::same(const Config& a, const Config& b) {
  RedisSettings left = a.redis;
  left.idle_commands = b.redis.idle_commands;
  return left == b.redis && a.has_redis == b.has_redis && a.supervisor.host == b.supervisor.host;
}

std::unique_ptr<RedisConnection::Watched> RedisConnection::connect(const Config& config,
                                                                   RedisWatch::Changed changed) {
  auto made = std::make_unique<Watched>();
  redis::ClientOptions client = config::client_options(config.redis, "w8yd");
  client.max_reply = max_reply;
  const std::string embedded = parts_.embedded_url();
  if (!embedded.empty()) {
    client.url = redis::parse_url(embedded);
  } else if (!config.has_redis) {
    client.url = {};
    client.url.kind = redis::Url::Kind::none;
  }
  made->options = client;
  made->session =
      std::make_shared<store::RedisSession>(loop_, client, parts_.holder(config.supervisor.host));
  if (client.url.kind == redis::Url::Kind::none) return made;
  made->watch = std::make_unique<RedisWatch>(made->session->client, made->session->server_clock,
                                             loop_.clock(), loop_.timers(), client.url, log_,
                                             events_, !embedded.empty(), std::move(changed));
  return made;
}

void RedisConnection::start(const Config& config) {
  in_use_ = connect(config, [this](RedisState state) { on_changed(state); });
  if (!exists()) on_changed(RedisState::available);  // there is no connection to wait for
}

void RedisConnection::open(const Config& wanted, Opened then) {
  next_ = std::make_unique<Candidate>(loop_.timers());
  next_->then = std::move(then);
  next_->opened = connect(wanted, [this](RedisState state) { apply_state(state); });
  if (next_->opened->watch == nullptr) return conclude({});
  next_->timeout.set(loop_.now() + wanted.redis.connect_timeout + wanted.redis.command_timeout,
                     [this] { conclude("no reply"); });
}

void RedisConnection::apply_state(RedisState state) {
  switch (state) {
    case RedisState::available:
      return conclude({});
    case RedisState::unsupported_version:
      return conclude("its version is too old");
    case RedisState::unavailable:
      conclude(next_->opened ? next_->opened->session->client.error() : "not reachable");
  }
}

/// Ends the test of a new connection. The first conclusion counts.
void RedisConnection::conclude(std::string why) {
  if (!next_ || next_->verdict.pending()) return;
  next_->timeout.cancel();
  next_->verdict.set(loop_.now(), [this, why = std::move(why)] {
    const Opened then = next_->then;  // may destroy the timer of this callback
    then(why);
  });
}

void RedisConnection::commit(const Config&) {
  if (!next_) return;
  in_use_->session->retire(
      [this, url = in_use_->options.url.to_string()](const std::string& list, std::size_t runs) {
        events_.on_event(SettlementsAbandoned{url, list, runs});
      });
  in_use_ = std::move(next_->opened);
  next_.reset();
  if (in_use_->watch) in_use_->watch->on_change([this](RedisState state) { on_changed(state); });
  on_changed(RedisState::available);
}

RedisStatus RedisConnection::status() const {
  RedisStatus status;
  status.url = in_use_->options.url.to_string();
  status.connected = in_use_->session->client.connected();
  if (!exists()) return status;
  status.error = in_use_->watch ? in_use_->watch->error() : std::string();
  if (const auto since = in_use_->watch ? in_use_->watch->since() : std::nullopt)
    status.away_since =
        loop_.clock().wall() - std::chrono::duration_cast<WallTime>(loop_.now() - *since);
  status.commands_sent = in_use_->session->client.commands_sent();
  if (const auto& jump = in_use_->session->server_clock.last_jump()) {
    status.clock_jump = jump->by;
    status.clock_jumped_at =
        loop_.clock().wall() - std::chrono::duration_cast<WallTime>(loop_.now() - jump->noticed);
  }
  auto& leases = in_use_->session->leases;
  status.leases = leases.size();
  status.lease_margin = leases.margins().recent(loop_.now());
  status.min_lease_margin = leases.margins().least();
  return status;
}

}  // namespace w8y::app

#include "app/redis_watch.hpp"

#include <algorithm>
#include <utility>

#include "core/units.hpp"

namespace w8y::app {

namespace {

constexpr Duration replica_look = std::chrono::seconds(2);

}  // namespace

RedisWatch::RedisWatch(redis::Client& client, store::ServerClock& server_clock, const Clock& clock,
                       TimerQueue& timers, const redis::Url& url, ops::LineLog& log,
                       EventHandler& events, bool starting, Changed changed)
    : redis::Client::Listener(client),
      store::ServerClock::Listener(server_clock),
      client_(client),
      server_clock_(server_clock),
      clock_(clock),
      where_(url.to_string()),
      failover_note_(redis::failover_note(url)),
      log_(log),
      events_(events),
      changed_(std::move(changed)),
      in_error_(starting),
      since_(clock.now()),
      sentinel_(url.kind == redis::Url::Kind::sentinel),
      again_(timers),
      alive_(std::make_shared<bool>(true)) {}

RedisWatch::~RedisWatch() {
  *alive_ = false;
}

void RedisWatch::on_up() {
  server_clock_.start();
  query();
}

void RedisWatch::query() {
  redis::query_server_info(
      client_, [this, alive = alive_](const redis::ServerInfo& info, const std::string& problem) {
        // If there is a problem, the connection is lost as well, and its callback reports that.
        if (*alive && problem.empty()) record_list(info);
      });
}

void RedisWatch::record_list(const redis::ServerInfo& info) {
  if (const std::string old = redis::too_old(info, where_); !old.empty()) {
    recovered();
    log_.error(old);
    return changed_(RedisState::unsupported_version);
  }
  // A replica is reachable, but unusable until it is promoted or Sentinel names another server.
  if (info.role == "slave") {
    in_error("the server is a replica and accepts no writes");
    again_.set(clock_.now() + replica_look, [this] { query(); });
  } else {
    recovered();
  }
  if (logged_server_ != info.run_id) log_weaknesses(info);
  changed_(RedisState::available);
}

/// Logs the weaknesses of a server: risks of doubled items always, the others if they are new.
void RedisWatch::log_weaknesses(const redis::ServerInfo& info) {
  const bool first = !logged_server_;
  logged_server_ = info.run_id;
  const auto risks = redis::doubling_risks(info, where_, sentinel_);
  auto known = std::exchange(weaknesses_, redis::weaknesses(info, where_, sentinel_));
  for (const std::string& sentence : weaknesses_) {
    const bool risk = std::find(risks.begin(), risks.end(), sentence) != risks.end();
    if (risk || std::find(known.begin(), known.end(), sentence) == known.end()) log_.warn(sentence);
  }
  if (first || known != weaknesses_) log_.info(redis::guarantee(info));
  if (first && !failover_note_.empty()) log_.info(failover_note_);
}

void RedisWatch::on_down(const std::string& why) {
  again_.cancel();
  in_error(why);
  changed_(RedisState::unavailable);
}

void RedisWatch::on_clock_jump(const store::ServerClock::Jump& jump) {
  const bool back = jump.by < Duration{0};
  log_.warn(back ? "Redis clock set back, correcting delays"
                 : "Redis clock jumped ahead, locks expire early",
            {{"redis", where_}, {"by", format_duration(back ? -jump.by : jump.by)}});
}

void RedisWatch::on_refusing(const std::string& why) {
  in_error(why);
}

void RedisWatch::in_error(const std::string& why) {
  const bool known = std::exchange(in_error_, true);
  if (error_.empty()) since_ = clock_.now();
  error_ = why;
  if (known) {
    log_.debug("Redis still unavailable", {{"redis", where_}, {"reason", why}});
    return;
  }
  events_.on_event(RedisChanged{false, why, where_, false, {}});
}

void RedisWatch::recovered() {
  const bool first = !std::exchange(reached_, true);
  if (!first && !in_error_) return;
  in_error_ = false;
  error_.clear();
  events_.on_event(RedisChanged{true, {}, where_, first, clock_.now() - since_});
}

}  // namespace w8y::app

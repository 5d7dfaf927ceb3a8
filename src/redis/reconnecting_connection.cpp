#include "redis/reconnecting_connection.hpp"

#include <algorithm>
#include <utility>

#include "redis/jitter.hpp"

namespace w8y::redis {

namespace {

constexpr Duration first_pause = std::chrono::milliseconds(50);
constexpr Duration max_pause = std::chrono::seconds(1);
constexpr Duration max_refused_pause = std::chrono::seconds(5);
constexpr const char* no_redis = "there is no Redis in the config";

}  // namespace

ReconnectingConnection::ReconnectingConnection(loop::Loop& loop, ClientOptions options,
                                               Handler& handler)
    : ReconnectingConnection(loop, options, handler, make_discovery(loop, options)) {}

ReconnectingConnection::ReconnectingConnection(loop::Loop& loop, ClientOptions options,
                                               Handler& handler,
                                               std::unique_ptr<Discovery> discovery)
    : loop_(loop),
      options_(std::move(options)),
      handler_(handler),
      discovery_(std::move(discovery)),
      wanted_(options_.url.kind == Url::Kind::sentinel ? Connection::Wanted::primary
                                                       : Connection::Wanted::any),
      timer_(loop.timers()),
      sweep_(loop, [this] { dead_.clear(); }) {}

void ReconnectingConnection::start() {
  if (state_ == State::idle) attempt();
}

void ReconnectingConnection::reconnect_now() {
  if (state_ != State::waiting || options_.url.kind == Url::Kind::none) return;
  pause_ = {};
  timer_.cancel();
  attempt();
}

void ReconnectingConnection::attempt() {
  state_ = State::connecting;
  if (options_.url.kind == Url::Kind::none) {
    timer_.set(loop_.now(), [this] { on_end({.why = no_redis, .refused = true}); });
    return;
  }
  Secret password;
  if (const std::string problem = read_password(options_, password); !problem.empty()) {
    timer_.set(loop_.now(), [this, problem] { on_end({.why = problem, .refused = true}); });
    return;
  }
  connection_ = std::make_unique<Connection>(loop_, options_, password, wanted_,
                                             static_cast<Connection::Handler&>(*this), handler_);
  if (!discovery_) return connection_->connect(options_.url);
  discovery_->find(
      [this](const Url* place, const std::string& problem) { on_found(place, problem); });
}

void ReconnectingConnection::on_found(const Url* place, const std::string& problem) {
  if (!connection_) return;
  if (place == nullptr) return connection_->drop(problem);
  place_ = place->server;
  connection_->connect(*place);
}

void ReconnectingConnection::on_moved(const HostPort& place) {
  if (place == place_) return;
  if (state_ == State::waiting) {
    reconnect_now();
  } else {
    drop("the primary is now " + place.to_string());
  }
}

void ReconnectingConnection::drop(const std::string& why) {
  if (connection_) connection_->drop(why);
}

void ReconnectingConnection::on_ready() {
  state_ = State::up;
  fresh_ = false;
  up_since_ = loop_.now();
  error_.clear();
  if (discovery_) discovery_->watch([this](const HostPort& place) { on_moved(place); });
  handler_.on_link_up();
}

void ReconnectingConnection::on_end(const Connection::End& end) {
  if (discovery_) discovery_->cancel();
  if (state_ == State::up && loop_.now() - up_since_ > max_pause) pause_ = {};
  state_ = State::waiting;
  fresh_ = false;
  error_ = end.why;
  if (connection_) dead_.push_back(std::move(connection_));
  wait(end.refused);
  handler_.on_link_down(end);
}

void ReconnectingConnection::wait(bool refused) {
  if (options_.url.kind == Url::Kind::none) return;
  const Duration longest = refused ? max_refused_pause : max_pause;
  pause_ = pause_ == Duration{} ? first_pause : std::min(pause_ * 2, longest);
  timer_.set(loop_.now() + jittered(pause_), [this] { attempt(); });
}

}  // namespace w8y::redis

#include "store/fleet/log_follower.hpp"

#include <utility>

#include "loop/loop.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::store {

namespace {

/// Time for which the last output of a run may arrive after the replies, since it comes by another
/// connection.
constexpr Duration end_timeout = std::chrono::seconds(1);

}  // namespace

LogFollower::LogFollower(loop::Loop& loop, redis::Subscriber& subscriber, FleetCommands& orders,
                         const std::string& fleet, const std::string& id, Filter wish,
                         Handler& handler)
    : loop_(loop),
      orders_(orders),
      id_(id),
      wish_(std::move(wish)),
      handler_(handler),
      again_(loop.timers()),
      vanished_(loop.timers()),
      lines_(subscriber.subscribe(
          FleetKeys(fleet).logs(id),
          [this](std::string_view, std::string_view payload) { heard(payload); },
          // The command is sent only after the subscription, so that no output is missed.
          [this] {
            if (!std::exchange(started_, true)) ask();
          })) {
  // If Redis refuses the channel, the command is sent anyway, and its missing replies show the
  // error.
  again_.set(loop.now() + order_timeout, [this] {
    if (!std::exchange(started_, true)) ask();
  });
}

LogFollower::~LogFollower() = default;

void LogFollower::ask() {
  again_.set(loop_.now() + log_renewal, [this] { ask(); });
  FleetCommand order;
  order.kind = FleetCommandKind::logs;
  order.by = wish_.by;
  order.run = wish_.run;
  order.list = wish_.list;
  order.listener = id_;
  orders_.send(std::move(order),
               [this, alive = std::weak_ptr<bool>(alive_)](FleetCommandResult&& told) {
                 if (!alive.expired()) answered(told);
               });
}

void LogFollower::answered(const FleetCommandResult& outcome) {
  if (!std::exchange(followed_, true)) return handler_.on_followed(outcome);
  if (!outcome.no_run() || wish_.list) return vanished_.cancel();
  if (!vanished_.pending())
    vanished_.set(loop_.now() + end_timeout, [this] { handler_.on_vanished(); });
}

void LogFollower::heard(std::string_view payload) {
  if (auto message = parse_log_message(payload)) handler_.on_log(std::move(*message));
}

}  // namespace w8y::store

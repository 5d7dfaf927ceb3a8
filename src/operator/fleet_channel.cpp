#include "operator/fleet_channel.hpp"

#include <optional>
#include <utility>

#include "redis/random_number.hpp"

namespace w8y::verbs {

FleetChannel::FleetChannel(const Connection& at, const std::string& fleet)
    : loop_(at.loop()),
      fleet_(fleet),
      client_(redis::Client::open(loop_, at.reach())),
      subscriber_(loop_, at.reach()),
      reader_(loop_, *client_, fleet),
      orders_(loop_, *client_, subscriber_, reader_, fleet, redis::random_number()) {}

FleetCommandResult FleetChannel::send(FleetCommand command) {
  std::optional<FleetCommandResult> outcome;
  orders_.send(std::move(command),
               [&outcome](FleetCommandResult&& replies) { outcome = std::move(replies); });
  while (!outcome) loop_.iterate(true);
  return std::move(*outcome);
}

std::unique_ptr<LogFollower> FleetChannel::follow(LogFollower::Filter wish,
                                                  LogFollower::Handler& handler) {
  return std::make_unique<LogFollower>(loop_, subscriber_, orders_, fleet_,
                                       std::to_string(redis::random_number()), std::move(wish),
                                       handler);
}

}  // namespace w8y::verbs

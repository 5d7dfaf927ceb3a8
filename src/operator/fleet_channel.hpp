// Fleet commands sent directly through Redis, without w8yd.
#pragma once

#include <memory>
#include <string>

#include "operator/connection.hpp"
#include "redis/subscriber.hpp"
#include "store/fleet/commands.hpp"
#include "store/fleet/log_follower.hpp"
#include "store/fleet/reader.hpp"
#include "view/fleet_commands.hpp"

namespace w8y::verbs {

using store::LogFollower;

class FleetChannel {
 public:
  FleetChannel(const Connection& at, const std::string& fleet);

  /// Sends the command and runs the loop until all hosts have replied or the timeout ends.
  FleetCommandResult send(FleetCommand command);
  /// Follows the output of runs on the loop, while the follower exists.
  std::unique_ptr<LogFollower> follow(LogFollower::Filter wish, LogFollower::Handler& handler);

 private:
  loop::Loop& loop_;
  const std::string fleet_;
  std::unique_ptr<redis::Client> client_;
  redis::Subscriber subscriber_;
  store::FleetReader reader_;
  store::FleetCommands orders_;
};

}  // namespace w8y::verbs

// The fleet, as the w8yd of this host sees it; or, where none answers, straight from Redis.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ctl/options.hpp"
#include "operator/fleet.hpp"
#include "operator/fleet_channel.hpp"
#include "operator/run_matches.hpp"
#include "view/fleet_commands.hpp"

namespace w8y::ctl {

class Context;

/// All throw Failure.
class FleetAccess {
 public:
  FleetAccess(const Options& options, Context& context);
  ~FleetAccess();
  FleetAccess(const FleetAccess&) = delete;
  FleetAccess& operator=(const FleetAccess&) = delete;

  /// All hosts. `list`: of lists, only that one.
  [[nodiscard]] FleetView read(bool lists, const std::optional<std::string>& list = {});
  /// The same in parts, so that no more than one of them is in memory.
  void each_part(bool lists, const std::optional<std::string>& list,
                 const std::function<void(FleetView&&)>& take);
  /// Adds the runs of all hosts; nothing if they can't be asked.
  void add_runs(verbs::RunMatches& matches);
  /// Also of orders that not all hosts have carried out.
  [[nodiscard]] FleetCommandResult send(FleetCommand order);
  /// Straight from Redis, on the context's loop, as long as the follower is there.
  [[nodiscard]] std::unique_ptr<verbs::LogFollower> follow(verbs::LogFollower::Filter wish,
                                                           verbs::LogFollower::Handler& handler);

 private:
  /// A part of the hosts. `wish` then asks for the next part; without a cursor there is none.
  [[nodiscard]] FleetView next_part(verbs::FleetWish& wish);
  [[nodiscard]] bool uses_w8yd();
  FleetCommandResult send_by_w8yd(const FleetCommand& order);
  verbs::FleetChannel& channel();

  const Options& options_;
  Context& context_;
  bool decided_ = false;
  bool uses_w8yd_ = false;
  std::unique_ptr<verbs::FleetChannel> channel_;
};

/// What hosts answered, a line each, and who did not; returns the exit status.
int print_fleet_result(const Options& options, const FleetCommandResult& outcome);

}  // namespace w8y::ctl

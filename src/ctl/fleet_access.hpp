// Access to the fleet through the w8yd of this host or, if none replies, directly through Redis.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ctl/options.hpp"
#include "operator/fleet.hpp"
#include "operator/fleet_channel.hpp"
#include "operator/run_matches.hpp"
#include "view/fleet_commands.hpp"
#include "view/problems.hpp"

namespace w8y::ctl {

class Context;

/// Access to the fleet for one subcommand. All functions throw Failure.
class FleetAccess {
 public:
  FleetAccess(const Options& options, Context& context);
  ~FleetAccess();
  FleetAccess(const FleetAccess&) = delete;
  FleetAccess& operator=(const FleetAccess&) = delete;

  /// Reads all hosts. `list`: without other lists.
  [[nodiscard]] FleetView read(bool lists, const std::optional<std::string>& list = {});
  /// Reads one host, with its lists. Throws Failure if no host has this name. If several hosts have
  /// it, prefers a live one.
  [[nodiscard]] FleetView read_host(const std::string& name);
  /// As read(), but in parts, so that only one part is in memory at a time.
  void each_part(bool lists, const std::optional<std::string>& list,
                 const std::function<void(FleetView&&)>& take);
  /// Returns the problems of the fleet.
  [[nodiscard]] std::vector<ShownProblem> problems();
  /// Removes a host that has died.
  void forget(const std::string& host);
  /// Adds the runs of all hosts; nothing if the fleet is not reachable.
  void add_runs(verbs::RunMatches& matches);
  /// Sends a command and returns its result, also if not all hosts have carried it out.
  [[nodiscard]] FleetCommandResult send(FleetCommand order);
  /// Follows output directly in Redis, on the context's loop, while the follower exists.
  [[nodiscard]] std::unique_ptr<verbs::LogFollower> follow(verbs::LogFollower::Filter wish,
                                                           verbs::LogFollower::Handler& handler);

  /// Returns whether w8yd sends the commands, which has the permissions and the name of the fleet.
  [[nodiscard]] bool uses_w8yd();

 private:
  [[nodiscard]] FleetView read(verbs::FleetWish wish);
  /// Reads a part of the hosts, and sets the cursor of `wish` to the next part; empty: it was the
  /// last.
  [[nodiscard]] FleetView next_part(verbs::FleetWish& wish);
  template <class Read>
  auto query(const Read& read);
  FleetCommandResult send_by_w8yd(const FleetCommand& order);
  verbs::FleetChannel& channel();

  const Options& options_;
  Context& context_;
  bool decided_ = false;
  bool uses_w8yd_ = false;
  std::unique_ptr<verbs::FleetChannel> channel_;
};

/// Prints the replies of hosts, a line each, and the hosts without a reply. Returns the exit
/// status.
int print_fleet_result(const Options& options, const FleetCommandResult& outcome);

}  // namespace w8y::ctl

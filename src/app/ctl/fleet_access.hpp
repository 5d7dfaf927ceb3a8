// The fleet, as the w8yd of this host sees it; or, where none answers, straight from Redis.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/ctl/options.hpp"
#include "app/look/fleet.hpp"
#include "ops/status_json.hpp"
#include "store/fleet/log_follower.hpp"
#include "view/fleet_orders.hpp"

namespace w8y::app::ctl {

class Context;

/// All throw Failure. Answers are those of the status API (w8y-api(7)), whoever gives them.
class FleetAccess {
 public:
  FleetAccess(const Options& options, Context& context);
  ~FleetAccess();
  FleetAccess(const FleetAccess&) = delete;
  FleetAccess& operator=(const FleetAccess&) = delete;

  /// All hosts. `list`: of lists, only that one.
  [[nodiscard]] ops::Json look(bool lists, const std::optional<std::string>& list = {});
  /// The same in parts, so that no more than one of them is in memory.
  void each_part(bool lists, const std::optional<std::string>& list,
                 const std::function<void(ops::Json&&)>& take);
  /// Also of orders that not all hosts have carried out.
  [[nodiscard]] ops::Json give(FleetOrder order);
  /// Straight from Redis, on the context's loop, as long as the follower is there.
  [[nodiscard]] std::unique_ptr<store::LogFollower> follow(store::LogFollower::Wish wish,
                                                           store::LogFollower::Handler& handler);

 private:
  struct Direct;

  [[nodiscard]] ops::Json part(const look::FleetWish& wish);
  [[nodiscard]] bool asks_w8yd();
  Direct& direct();

  const Options& options_;
  Context& context_;
  bool decided_ = false;
  bool asks_w8yd_ = false;
  std::unique_ptr<Direct> direct_;
};

/// What hosts answered, a line each, and who did not; returns the exit status.
int tell_fleet(const Options& options, const ops::Json& answer);

}  // namespace w8y::app::ctl

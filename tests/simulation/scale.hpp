// Load of one Redis by a fleet of a given size: with idle lists, with active lists, and when all
// hosts reconnect at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "simulation/service_times.hpp"

namespace w8y::sim {

struct FleetSize {
  unsigned hosts = 1;
  unsigned lists = 10;
  /// 0 = default of w8yd.
  unsigned idle_commands = 0;
  /// Redis reports changes of keys.
  bool tracking = false;
};

struct FleetFigures {
  /// Time in s from the start of all hosts until each host has polled each list; negative: not
  /// within the limit. `back_s` is the same after a restart of Redis.
  double start_s = 0;
  double back_s = 0;
  double start_commands = 0;
  double back_commands = 0;
  std::uint64_t back_lost = 0;  ///< connections that were closed again meanwhile

  double rest_per_s = 0;  ///< commands for idle lists
  double rest_busy = 0;   ///< part of the time in which Redis is busy
  // The same for lists with four items that are all delayed.
  double locked_per_s = 0;
  double locked_busy = 0;
  // True: hosts peek at idle lists. False: they keep claiming from them.
  bool at_rest = true;
  bool locked_at_rest = true;
  // Time from a push to its claim.
  double wake_told_ms = 0;  ///< median, with a message on the wake channel
  double wake_told_worst_ms = 0;
  double wake_ms = 0;  ///< median, without a message on the wake channel
  double wake_worst_ms = 0;
  unsigned unseen = 0;  ///< pushes that no host has claimed

  /// Time in s from the push of all items until nearly all slots are in use; negative: not within
  /// the limit. At least 20, because it is not measured before.
  double settled_s = 0;
  double work_per_s = 0;      ///< commands
  double messages_per_s = 0;  ///< from Redis to subscribers
  double work_busy = 0;
  double runs_per_s = 0;
  double commands_per_run = 0;  ///< without peeks at lists that have no items
  double min_host = 0;          ///< runs of a host, divided by the mean
  double max_host = 0;
};

/// Run slots of each host, and mean duration of its runs in s, for active lists.
inline constexpr unsigned places_of_host = 8;
inline constexpr double run_s = 1;

/// Called after each measurement, and every 10 s of virtual time while a measurement waits, since a
/// large fleet takes minutes. `age` is the age of the fleet.
using Progress = std::function<void(const std::string& what, Duration age)>;

FleetFigures measure_fleet(const FleetSize& size, const ServiceTimes& times,
                           const Progress& progress);

}  // namespace w8y::sim

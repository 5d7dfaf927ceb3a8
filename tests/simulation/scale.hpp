// A fleet of a size on one Redis: what it costs at rest, at work and when all come back at once.
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
  /// 0: the default of w8yd.
  unsigned idle_commands = 0;
  /// Redis tells of changed keys, as notify-keyspace-events says.
  bool keyspace_events = false;
};

struct FleetFigures {
  /// From the start of all hosts until each has looked at each list once; negative: not within the
  /// limit. The same after a restart of Redis.
  double start_s = 0;
  double back_s = 0;
  double start_commands = 0;
  double back_commands = 0;
  std::uint64_t back_lost = 0;  ///< connections that were lost again meanwhile

  double rest_per_s = 0;  ///< commands
  double rest_busy = 0;   ///< part of the time in which Redis has something to do
  // The same, where each list has a few items, and all of them rest.
  double locked_per_s = 0;
  double locked_busy = 0;
  // Lists at rest are looked at; false: they are claimed from all the time.
  bool at_rest = true;
  bool locked_at_rest = true;
  // From the push until somebody claims.
  double wake_told_ms = 0;  ///< median, where the push is told on the wake channel
  double wake_told_worst_ms = 0;
  double wake_ms = 0;  ///< median, where it is not: keyspace events tell of it, or nothing does
  double wake_worst_ms = 0;
  unsigned unseen = 0;  ///< pushes that nobody has claimed

  /// From the push of all items until as many run as there are places; negative: not within the
  /// limit. 20 s at least, since nobody looks before.
  double settled_s = 0;
  double work_per_s = 0;      ///< commands
  double messages_per_s = 0;  ///< that Redis writes to those who hear a channel
  double work_busy = 0;
  double runs_per_s = 0;
  double commands_per_run = 0;  ///< but for looks at lists that have no work
  double min_host = 0;          ///< its runs, as a part of the mean
  double max_host = 0;
};

/// Places of each host, and how long its runs take on average, at work.
inline constexpr unsigned places_of_host = 8;
inline constexpr double run_s = 1;

/// Told now and then, since a large fleet takes minutes: what has been measured, and how long the
/// fleet has lived.
using Progress = std::function<void(const std::string& what, Duration age)>;

FleetFigures measure_fleet(const FleetSize& size, const ServiceTimes& times,
                           const Progress& progress);

}  // namespace w8y::sim

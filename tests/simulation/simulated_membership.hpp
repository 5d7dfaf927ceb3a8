// Fleet membership of a simulated host: the code of w8yd that sends heartbeats, receives fleet
// commands and carries them out.
#pragma once

#include <functional>
#include <string>

#include "app/drain.hpp"
#include "app/fleet.hpp"
#include "app/host_control.hpp"
#include "app/list_stats_cache.hpp"
#include "core/event_reporter.hpp"
#include "core/runs_per_minute.hpp"

namespace w8y::sim {

/// Number of processors in each heartbeat, the same on each machine.
inline constexpr unsigned reported_processors = 4;

class SimulatedMembership final {
 public:
  struct Parts {
    loop::Loop& loop;
    ops::LineLog& log;
    app::RedisConnection& redis;
    const gearman::ServerPool& gearman;
    Supervisor& supervisor;
    app::HostMode& mode;
    app::Reload& reload;
    app::DrainSteps& drain_steps;
    EventHandler& events;
    std::string id;
    int pid;
  };
  explicit SimulatedMembership(const Parts& parts)
      : drain_(parts.drain_steps, parts.events),
        stats_(parts.loop.clock()),
        control_(
            {parts.loop, parts.supervisor, parts.redis, parts.gearman, parts.mode, parts.reload,
             drain_, parts.events,
             [&supervisor = parts.supervisor]() -> const Config& { return supervisor.config(); },
             stats_, hour_, parts.id, parts.pid}),
        queries_(parts.loop, {}),
        fleet_({parts.loop, parts.log, parts.redis, parts.supervisor, control_, hour_, parts.events,
                stats_, queries_,
                [&supervisor = parts.supervisor](std::size_t hosts) {
                  supervisor.share_polls_with(hosts);
                },
                parts.id, [] { return reported_processors; },
                [&mode = parts.mode](const std::optional<std::string>& conflict) {
                  mode.formats_compared(conflict);
                }}),
        reporter_(fleet_) {}
  ~SimulatedMembership() { fleet_.stop(); }
  SimulatedMembership(const SimulatedMembership&) = delete;
  SimulatedMembership& operator=(const SimulatedMembership&) = delete;

  [[nodiscard]] app::Fleet& fleet() { return fleet_; }
  [[nodiscard]] app::Drain& drain() { return drain_; }
  /// Observer that turns notifications of lists into events of the fleet.
  [[nodiscard]] ServedListObserver& reporter() { return reporter_; }

 private:
  app::Drain drain_;
  app::ListStatsCache stats_;
  app::HostControl control_;
  RunsPerMinute hour_;
  api::QueryRunner queries_;  ///< never used: no operator views the fleet in a world
  app::Fleet fleet_;
  EventReporter reporter_;
};

}  // namespace w8y::sim

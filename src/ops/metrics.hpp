// Metrics of a host in the format of Prometheus (w8y-metrics(7)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/counters.hpp"
#include "core/histogram.hpp"
#include "core/list_config.hpp"
#include "core/run_stats.hpp"
#include "core/status.hpp"
#include "view/list_stats.hpp"

namespace w8y::ops {

/// Metrics of a list apart from its state.
struct ActiveListMetrics {
  bool ran = false;             ///< since the start of w8yd on this host
  bool is_due_by_time = false;  ///< as in KindTraits
  std::size_t running = 0;
  RunCounters counters;
  RunStats run_stats;
  std::uint64_t left_out = 0;  ///< log lines that were dropped
  std::optional<ListStats> stats;
  Duration overdue_after{0};  ///< 0: not checked
};

struct ListMetrics {
  std::string prefix;
  ListState state = ListState::idle;
  std::unique_ptr<ActiveListMetrics> living;  ///< nullptr: never run
};

struct HostMetrics {
  HostStatus host;
  CallTimes redis_answered;
  std::uint64_t redis_bytes_in = 0;
  std::uint64_t redis_bytes_out = 0;
  std::vector<std::pair<std::string, std::uint64_t>> redis_commands;  ///< by command or script
  CallTimes loop_lag;
  CallTimes probes;
  std::size_t settlements_waiting = 0;
  std::uint64_t reloads_applied = 0;
  std::uint64_t reloads_failed = 0;
  bool last_reload_succeeded = true;
  std::uint64_t not_started[3] = {0, 0, 0};  ///< as in RunStats
  std::optional<FleetCounts> fleet;
  std::optional<Duration> key_expiry;  ///< minimum of all lists that this host serves
  std::vector<ListMetrics> lists;
};

inline constexpr const char* metrics_type = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the text format of Prometheus. Takes some time for ten thousand lists: do not call it on
/// the thread of the loop.
std::string metrics_text(const HostMetrics& metrics);

}  // namespace w8y::ops

// Statistics of lists, collected by one host for the whole fleet (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "view/fleet.hpp"

namespace w8y {

/// Interval in which statistics are collected again. Statistics of long lists cost Redis more and
/// change more slowly, so that they are collected less often.
inline constexpr Duration stats_period = std::chrono::seconds(10);
inline constexpr Duration long_list_period = std::chrono::seconds(30);
inline constexpr std::uint64_t long_list = 100'000;
/// Age after which statistics are not shown.
inline constexpr Duration stats_life = std::chrono::minutes(2);

Duration period_of(const ListStats& stats);

/// Number of quarters of an hour whose cycle times are kept: 6 hours.
inline constexpr std::int64_t cycles_kept = 24;
/// Returns the known cycle times with the current one.
std::vector<CycleAt> cycles_with(std::vector<CycleAt> before, WallTime at,
                                 std::optional<WallTime> cycle);

/// Returns a JSON object.
std::string to_text(const ListStats& stats);
/// nullopt: the text is not the output of to_text(). Unknown members are ignored.
std::optional<ListStats> parse_list_stats(std::string_view text);

struct FleetCounts {
  std::size_t hosts = 0;         ///< live hosts, without unresponsive ones
  std::size_t outdated = 0;      ///< number of these hosts with an outdated config
  std::size_t unresponsive = 0;  ///< hosts whose heartbeats have stopped, not started again
  WallTime at{0};                ///< by the clock of Redis
};
std::string to_text(const FleetCounts& counts);
std::optional<FleetCounts> parse_fleet_counts(std::string_view text);
FleetCounts count(const FleetView& view);

/// Returns the number of slots with which `items` runs of that duration start within
/// `overdue_after`.
std::uint64_t places_for(std::uint64_t items, Duration mean_run, Duration overdue_after);

}  // namespace w8y

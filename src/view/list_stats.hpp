// What was asked of lists by one host, for all of their fleet (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "view/fleet.hpp"

namespace w8y {

/// Figures are asked for again after so long, those of long lists later: they cost Redis more, and
/// change more slowly.
inline constexpr Duration stats_period = std::chrono::seconds(10);
inline constexpr Duration long_list_period = std::chrono::seconds(30);
inline constexpr std::uint64_t long_list = 100'000;
/// Older ones are not shown.
inline constexpr Duration stats_life = std::chrono::minutes(2);

Duration period_of(const ListStats& stats);

/// Laps are kept for so many quarters of an hour: six hours.
inline constexpr std::int64_t cycles_kept = 24;
/// The cycles that were known before, and this one.
std::vector<CycleAt> cycles_with(std::vector<CycleAt> before, WallTime at,
                                 std::optional<WallTime> cycle);

/// A JSON object.
std::string to_text(const ListStats& stats);
/// nullopt: not what to_text() writes. Unknown members are none of our business.
std::optional<ListStats> parse_list_stats(std::string_view text);

struct FleetCounts {
  std::size_t hosts = 0;     ///< that are there; silent ones are not counted
  std::size_t outdated = 0;  ///< of these: another config was applied elsewhere
  WallTime at{0};            ///< by Redis's clock
};
std::string to_text(const FleetCounts& counts);
std::optional<FleetCounts> parse_fleet_counts(std::string_view text);
FleetCounts count(const FleetView& view);

/// Places that it takes for `items` runs of that length to begin within `overdue_after`.
std::uint64_t places_for(std::uint64_t items, Duration mean_run, Duration overdue_after);

}  // namespace w8y

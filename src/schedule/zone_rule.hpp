// Future changes of the clocks, as in the variable TZ of POSIX: CET-1CEST,M3.5.0,M10.5.0/3
#pragma once

#include <optional>
#include <string_view>

#include "schedule/civil.hpp"

namespace w8y::schedule {

struct ZoneRule {
  struct Change {
    enum class Kind { weekday, julian, day } kind = Kind::weekday;
    int month = 0, week = 0;  ///< for Kind::weekday only; week 5: the last
    int day = 0;       ///< weekday: 0 = Sunday; julian: 1 to 365, never 29 February; day: 0 to 365
    Wall time = 7200;  ///< seconds since midnight, on the clock before the change

    /// Time of the change on that clock.
    Wall in(int year) const;
  };
  int standard = 0;           ///< seconds east of UTC
  std::optional<int> summer;  ///< nullopt: clocks never change
  Change to_summer, to_standard;

  int offset_at(std::int64_t unix_seconds) const;
};

/// Parses a rule; nullopt if it is not one.
std::optional<ZoneRule> read_zone_rule(std::string_view text);

}  // namespace w8y::schedule

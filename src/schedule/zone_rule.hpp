// Future changes of the clocks, as in the variable TZ of POSIX: CET-1CEST,M3.5.0,M10.5.0/3
#pragma once

#include <optional>
#include <string_view>

#include "schedule/civil.hpp"

namespace w8y::schedule {

struct ZoneRule {
  struct Change {
    enum class Kind { weekday, julian, day } kind = Kind::weekday;
    int month = 0, week = 0;  ///< of `weekday`; week 5: the last
    int day = 0;              ///< from Sunday; from 1, without 29 February; or from 0
    Wall time = 7200;         ///< on the clock before the change

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

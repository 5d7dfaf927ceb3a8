// Parser of times in iCalendar and ISO 8601.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schedule/civil.hpp"

namespace w8y::schedule {

/// Error of a schedule, for people. parse_schedule() catches it.
struct ScheduleError {
  std::string why;
};

struct TimeText {
  Wall wall = 0;
  bool utc = false;  ///< ends in Z
};

/// Reads `20261121T130000` or `2026-11-21T13:00:00.25`, each with or without Z. Seconds may be
/// missing, and also the time of day, which is midnight then. Fractions are dropped. Throws
/// ScheduleError.
TimeText read_time(std::string_view text);

/// A time that may have an offset from UTC.
struct OffsetTime {
  Wall wall = 0;
  std::optional<int> east;  ///< seconds east of UTC; 0 for Z; nullopt: the text has neither
};

/// Reads a time as read_time(), also with an offset (`+01:00`, `-0330`, `+01`). Throws
/// ScheduleError.
OffsetTime read_offset_time(std::string_view text);

}  // namespace w8y::schedule

// A time as iCalendar and ISO 8601 write it.
#pragma once

#include <string>
#include <string_view>

#include "schedule/civil.hpp"

namespace w8y::schedule {

/// What is wrong with a schedule, for people. Never leaves parse_schedule().
struct ScheduleError {
  std::string why;
};

struct TimeText {
  Wall wall = 0;
  bool utc = false;  ///< it ends in Z
};

/// `20261121T130000`, `2026-11-21T13:00:00.25`, each with or without Z; seconds may be missing, and
/// the time of day, which is midnight then. Fractions are dropped. Throws ScheduleError.
TimeText read_time(std::string_view text);

}  // namespace w8y::schedule

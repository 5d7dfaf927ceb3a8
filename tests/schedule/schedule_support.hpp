// Short functions to query a schedule.
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace w8y::schedule {

inline constexpr UnixSeconds now = 1795266000;  ///< 2026-11-21T13:00:00Z
inline constexpr UnixSeconds none = -1;

/// Returns why a schedule is invalid. Empty if it is valid.
inline std::string why(std::string_view text) {
  const Schedule schedule = parse_schedule(text, now);
  const auto* bad = std::get_if<Bad>(&schedule);
  return bad == nullptr ? "" : bad->why;
}

inline UnixSeconds next(std::string_view text, UnixSeconds after = now) {
  const Schedule schedule = parse_schedule(text, now);
  return std::get<Recurrence>(schedule).next_after(after).value_or(none);
}

/// Returns the first times after `after`, in the zone of the schedule.
inline std::vector<std::string> times(std::string_view text, int count, UnixSeconds after = now) {
  const auto recurrence = std::get<Recurrence>(parse_schedule(text, now));
  std::vector<std::string> result;
  for (; count > 0; --count) {
    const auto time = recurrence.next_after(after);
    if (!time) break;
    result.push_back(recurrence.in_zone(*time));
    after = *time;
  }
  return result;
}

#define CHECK_BAD(text, reason)                                        \
  do {                                                                 \
    INFO(w8y::schedule::why(text));                                    \
    CHECK(w8y::schedule::why(text).find(reason) != std::string::npos); \
  } while (false)

}  // namespace w8y::schedule

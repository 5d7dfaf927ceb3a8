// Schedules of Redbike: parses keywords and iCalendar lines to a value that has its next time. It
// reads no clock. Zones come from the zone database of the host.
//
// w8yd calls these functions on the thread of the loop and on the query thread of the status API.
// The cache of zones has a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace w8y::schedule {

using UnixSeconds = std::int64_t;

/// Maximum length in bytes. Longer texts are Bad and not parsed, since parsing would delay the
/// loop.
inline constexpr std::size_t max_schedule = 64 * 1024;
/// The last second of the year 9999. No job is scheduled later.
inline constexpr UnixSeconds latest_time = 253402300799;

struct Stop {};
struct Continue {};
struct Now {};
struct At {
  UnixSeconds time = 0;
};
struct Bad {
  std::string why;  ///< for people: the error and the remedy
};

struct RecurrenceData;

/// iCalendar lines with times: DTSTART, RRULE, RDATE, EXRULE, EXDATE. Cheap to copy.
class Recurrence {
 public:
  explicit Recurrence(std::shared_ptr<const RecurrenceData> plan) noexcept;

  /// The first time after `after`. nullopt: none is left, or the search exceeds its budget. The
  /// budget suffices if `after` is at least the `now` of parse_schedule(), which checks this.
  std::optional<UnixSeconds> next_after(UnixSeconds after) const;
  /// The zone of DTSTART as written (`Europe/Berlin`); `UTC` if there is none.
  const std::string& zone() const noexcept;
  /// A time in that zone: `2026-11-21T14:00:00+01:00`.
  std::string in_zone(UnixSeconds time) const;

 private:
  std::shared_ptr<const RecurrenceData> plan_;
};

using Schedule = std::variant<Stop, Continue, Now, At, Recurrence, Bad>;

/// Reason, for people, why this host cannot read rules (libical is not installed). Empty if it can.
std::string why_no_schedules();

/// Parses a schedule. `now` replaces a missing DTSTART. An empty text is Bad. Throws NoIcal
/// (ical.hpp) if the host cannot read rules; that says nothing about this rule.
Schedule parse_schedule(std::string_view text, UnixSeconds now);

/// Text that a person typed.
struct Typed {
  std::string schedule;  ///< as it is stored
  std::string
      zone_error;  ///< why the zone cannot be used, for people; empty: it can, or none was given
};
/// Converts a text that a person typed. A cron expression becomes an RRULE, with a DTSTART in
/// `zone`. `AT:` with a time that has no zone becomes the time in `zone`. Every other text is
/// unchanged, also an invalid one, and accepts no zone. `zone`: empty = none.
Typed as_stored(std::string_view typed, std::string_view zone);

/// Short description for tables: `every 5 minutes`, `weekdays at 09:00 Europe/Berlin`, `once at
/// 2026-11-21T13:00:00Z`. The text itself if there is no description.
std::string in_words(const Schedule& schedule, std::string_view text);

/// Reason why a worker of Redbike 0.13 cannot read the schedule (`Z`, `TZID`, `UNTIL=…Z`), or
/// empty.
std::string redbike_stumbles(std::string_view text);

}  // namespace w8y::schedule

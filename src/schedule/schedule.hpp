// When a job runs: the schedules of Redbike. Words and iCalendar lines become a value that knows
// its next time. Decides only: it reads no clock. Zones come from the host's zone database.
//
// One thread: libical, which reads the zones, keeps tables of its own and locks nothing. Whoever
// calls these does it from the thread of the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace w8y::schedule {

using UnixSeconds = std::int64_t;

/// Longer texts are Bad, unread: what is longer is no schedule, and would hold the loop up.
inline constexpr std::size_t max_schedule = 64 * 1024;
/// The last second of the year 9999. Nothing is scheduled later.
inline constexpr UnixSeconds latest_time = 253402300799;

struct Stop {};
struct Continue {};
struct Now {};
struct At {
  UnixSeconds time = 0;
};
struct Bad {
  std::string why;  ///< for people: what is wrong, and what would be right
};

struct RecurrenceData;

/// iCalendar lines that say when: DTSTART, RRULE, RDATE, EXRULE, EXDATE. Cheap to copy.
class Recurrence {
 public:
  explicit Recurrence(std::shared_ptr<const RecurrenceData> plan) noexcept;

  /// The first time strictly after this one. nullopt: none is left. Or finding it takes more work
  /// than a schedule may: not from the `now` of parse_schedule() on, which has tried that.
  std::optional<UnixSeconds> next_after(UnixSeconds after) const;
  /// The zone of DTSTART as written (`Europe/Berlin`); `UTC` where none is.
  const std::string& zone() const noexcept;
  /// A time in that zone: `2026-11-21T14:00:00+01:00`.
  std::string in_zone(UnixSeconds time) const;

 private:
  std::shared_ptr<const RecurrenceData> plan_;
};

using Schedule = std::variant<Stop, Continue, Now, At, Recurrence, Bad>;

/// Why this host can read no rules (libical is not installed), for people; empty: it can.
std::string why_no_schedules();

/// Reads a schedule. Throws NoIcal (ical.hpp) where the host can read no rules: that says nothing
/// of this one. `now` stands in for a DTSTART that is missing. An empty text is Bad.
Schedule parse_schedule(std::string_view text, UnixSeconds now);

/// In a few plain words, for tables: `every 5 minutes`, `weekdays at 09:00 Europe/Berlin`,
/// `once at 2026-11-21T13:00:00Z`; the text itself where words fail.
std::string in_words(const Schedule& schedule, std::string_view text);

/// What of it a worker of Redbike 0.13 stumbles at (`Z`, `TZID`, `UNTIL=…Z`): why, or empty.
std::string redbike_stumbles(std::string_view text);

}  // namespace w8y::schedule

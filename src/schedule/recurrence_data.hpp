// What a Recurrence knows.
#pragma once

#include <vector>

#include "schedule/read_rule.hpp"
#include "schedule/zone.hpp"

namespace w8y::schedule {

/// Lines of iCalendar, each value where it belongs. Still without a DTSTART where none was given.
struct Lines {
  std::shared_ptr<const Zone> zone = Zone::utc();  ///< of DTSTART
  std::optional<Wall> start;
  std::vector<RuleText> rules, excluded_rules;
  std::vector<UnixSeconds> times, excluded_times;  ///< ascending
};

/// Throws ScheduleError.
Lines read_lines(std::string_view text);

/// What names a zone first (`the TZID of DTSTART`, `the Z of UNTIL`); empty: nothing does, or the
/// text can't be read.
std::string first_zone(std::string_view text);

struct RecurrenceData {
  std::shared_ptr<const Zone> zone;
  std::vector<Rule> rules, excluded_rules;
  std::vector<UnixSeconds> times, excluded_times;
};

/// nullopt: none is left, or `work` is used up.
std::optional<UnixSeconds> next_of(const RecurrenceData& plan, UnixSeconds after, WorkBudget& work);

}  // namespace w8y::schedule

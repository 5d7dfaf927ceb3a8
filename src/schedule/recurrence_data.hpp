// Data of a Recurrence.
#pragma once

#include <vector>

#include "schedule/read_rule.hpp"
#include "schedule/zone.hpp"

namespace w8y::schedule {

/// Parsed lines of iCalendar. DTSTART is still missing if there is no such line.
struct Lines {
  std::shared_ptr<const Zone> zone = Zone::utc();  ///< zone of DTSTART
  std::optional<Wall> start;
  std::vector<RuleText> rules, excluded_rules;
  std::vector<UnixSeconds> times, excluded_times;  ///< ascending
};

/// Parses the lines. Throws ScheduleError.
Lines read_lines(std::string_view text);

/// Returns the first part that names a zone (`the TZID of DTSTART`, `the Z of UNTIL`). Empty if
/// there is none, or the text is invalid.
std::string first_zone(std::string_view text);

struct RecurrenceData {
  std::shared_ptr<const Zone> zone;
  std::vector<Rule> rules, excluded_rules;
  std::vector<UnixSeconds> times, excluded_times;
};

/// The first time after `after`. nullopt: none is left, or `work` is used up.
std::optional<UnixSeconds> next_of(const RecurrenceData& plan, UnixSeconds after, WorkBudget& work);

}  // namespace w8y::schedule

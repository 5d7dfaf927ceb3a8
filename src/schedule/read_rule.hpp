// Parser of one rule, such as FREQ=WEEKLY;BYDAY=MO,TU.
#pragma once

#include <functional>
#include <string_view>

#include "schedule/read_time.hpp"
#include "schedule/rule.hpp"

namespace w8y::schedule {

/// Parses a rule in upper-case letters. `until` converts UNTIL to the wall clock of DTSTART's zone.
/// If a part occurs twice, the last one counts, as in dateutil. Throws ScheduleError.
RuleText read_rule(std::string_view text, const std::function<Wall(TimeText)>& until);

}  // namespace w8y::schedule

// The text of one rule: FREQ=WEEKLY;BYDAY=MO,TU
#pragma once

#include <functional>
#include <string_view>

#include "schedule/read_time.hpp"
#include "schedule/rule.hpp"

namespace w8y::schedule {

/// In capital letters already. `until` gives UNTIL its place on the wall clock of DTSTART's zone.
/// Of a part that is there twice the last one counts, as with dateutil. Throws ScheduleError.
RuleText read_rule(std::string_view text, const std::function<Wall(TimeText)>& until);

}  // namespace w8y::schedule

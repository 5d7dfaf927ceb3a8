// Cron expressions, as people type them. They are stored as recurrence rules.
#pragma once

#include <string>
#include <string_view>

namespace w8y::schedule {

/// Returns whether a text is meant as a cron expression. No other schedule starts like one.
bool looks_like_cron(std::string_view text);

/// Translates five fields (`0 3 * * 1-5`) or a name (`@daily`) to one RRULE with BYSECOND=0. Throws
/// ScheduleError with the character of the error, or if no single RRULE has the same times.
std::string rule_of_cron(std::string_view text);

}  // namespace w8y::schedule

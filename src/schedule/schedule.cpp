#include "schedule/schedule.hpp"

#include <algorithm>
#include <charconv>

#include "core/text.hpp"
#include "schedule/cron.hpp"
#include "schedule/recurrence_data.hpp"

namespace w8y::schedule {

namespace {

constexpr std::string_view at_word = "AT:";

/// Reads an ISO time with Z or an offset. A time that has neither is in `zone`.
UnixSeconds read_instant(std::string_view text, const Zone& zone) {
  const OffsetTime time = read_offset_time(text);
  const UnixSeconds instant = time.east ? time.wall - *time.east : zone.when(time.wall);
  if (instant < 0 || instant > latest_time)
    throw ScheduleError{core::quote_start(text) +
                        " is out of range: AT accepts times from the year 1970 to 9999"};
  return instant;
}

/// Returns whether the text is meant as a date, and not as seconds.
bool looks_like_date(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits >= 4 && text.substr(digits).find_first_of("-T") == 0;
}

Schedule parse_at(std::string_view digits) {
  if (looks_like_date(digits)) return At{read_instant(digits, *Zone::utc())};
  const std::string wanted =
      "AT accepts a time such as AT:2026-11-21T14:00:00+01:00 or AT:2026-11-21T13:00:00Z, or whole "
      "seconds since 1970, such as AT:1795266000";
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos)
    return Bad{wanted + (digits.starts_with('-') ? "; times before 1970 are not allowed" : "")};
  UnixSeconds time = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), time);
  if (error != std::errc() || end != digits.data() + digits.size() || time > latest_time)
    return Bad{wanted + "; the time is after the year 9999 (is it in milliseconds?)"};
  return At{time};
}

const char* const too_much_work =
    "the search for its next time exceeds the limit: it has too many rules, or an "
    "EXRULE that excludes too much; use fewer rules";

/// Returns the rules that have any time.
std::vector<Rule> make_rules(const std::vector<RuleText>& texts, Wall start, WorkBudget& work) {
  std::vector<Rule> rules;
  for (const RuleText& text : texts) {
    // Fixed cost of a rule.
    work.spend(6000);
    Rule rule(text, start, work);
    if (!rule.reaches_a_time())
      throw ScheduleError{
          "it never fires: no time that INTERVAL reaches from DTSTART matches BYHOUR, BYMINUTE "
          "and BYSECOND"};
    if (rule.fires(work)) rules.push_back(std::move(rule));
    if (work.used_up()) throw ScheduleError{too_much_work};
  }
  return rules;
}

Schedule parse_recurrence(std::string_view text, UnixSeconds now) {
  Lines lines = read_lines(text);
  auto plan = std::make_shared<RecurrenceData>();
  const Wall start = lines.start.value_or(now);
  WorkBudget work;
  plan->rules = make_rules(lines.rules, start, work);
  plan->excluded_rules = make_rules(lines.excluded_rules, start, work);
  if (plan->rules.empty() && lines.times.empty())
    throw ScheduleError{"it never fires: no day up to the year 9999 matches all parts of its rule"};
  plan->zone = std::move(lines.zone);
  plan->times = std::move(lines.times);
  plan->excluded_times = std::move(lines.excluded_times);
  next_of(*plan, now, work);
  if (work.used_up()) throw ScheduleError{too_much_work};
  return Recurrence(std::move(plan));
}

/// DTSTART of the rule of a cron expression. The rule has all BYxxx parts, so its times do not
/// depend on this time.
constexpr const char* cron_start = "20000101T000000";

std::string cron_in_zone(std::string_view typed, const std::string& zone) {
  const std::string rule = rule_of_cron(typed);
  return zone == "UTC" ? rule : "DTSTART;TZID=" + zone + ":" + cron_start + "\n" + rule;
}

std::string at_in_zone(std::string_view typed, const Zone& zone) {
  return std::string(at_word) + std::to_string(read_instant(typed.substr(at_word.size()), zone));
}

}  // namespace

Schedule parse_schedule(std::string_view text, UnixSeconds now) {
  if (text.size() > max_schedule)
    return Bad{"it has " + std::to_string(text.size()) + " bytes; a schedule has at most " +
               std::to_string(max_schedule)};
  if (text == "STOP") return Stop{};
  if (text == "CONTINUE") return Continue{};
  if (text == "NOW") return Now{};
  try {
    if (text.starts_with(at_word)) return parse_at(text.substr(at_word.size()));
    if (looks_like_cron(text))
      return Bad{"it is a cron expression; store its rule instead, which is " + rule_of_cron(text)};
    return parse_recurrence(text, now);
  } catch (const ScheduleError& error) {
    return Bad{error.why};
  }
}

Typed as_stored(std::string_view typed, std::string_view zone) {
  Typed result{std::string(typed), {}};
  const bool cron = looks_like_cron(typed);
  const bool date = typed.starts_with(at_word) && looks_like_date(typed.substr(at_word.size()));
  std::shared_ptr<const Zone> found;
  try {
    if (!zone.empty()) found = Zone::find(zone);
  } catch (const ScheduleError& error) {
    result.zone_error = error.why;
    return result;
  }
  try {
    if (cron) result.schedule = cron_in_zone(typed, found ? found->name() : "UTC");
    if (!found || cron) return result;
    if (date && !read_offset_time(typed.substr(at_word.size())).east) {
      result.schedule = at_in_zone(typed, *found);
      return result;
    }
  } catch (const ScheduleError&) {
    // parse_schedule() has the reason.
    return result;
  }
  result.zone_error = date ? "the time already has a zone; omit one of the two"
                           : "a zone is only for a cron expression, or AT: with a time; in a rule, "
                             "write the zone as DTSTART;TZID=" +
                                 found->name() + ":20260101T000000";
  return result;
}

}  // namespace w8y::schedule

#include "schedule/schedule.hpp"

#include <charconv>

#include "schedule/recurrence_data.hpp"

namespace w8y::schedule {

namespace {

Schedule parse_at(std::string_view digits) {
  const std::string wanted = "AT takes whole seconds since 1970, such as AT:1795266000";
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos)
    return Bad{wanted + (digits.starts_with('-') ? "; a time before that never comes" : "")};
  UnixSeconds time = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), time);
  if (error != std::errc() || end != digits.data() + digits.size() || time > latest_time)
    return Bad{wanted + "; this is after the year 9999 (are they milliseconds?)"};
  return At{time};
}

const char* const too_much_work =
    "the search for its next time exceeds the limit: it has too many rules, or an "
    "EXRULE "
    "that excludes too much; use fewer";

/// Returns the rules that have any time.
std::vector<Rule> make_rules(const std::vector<RuleText>& texts, Wall start, WorkBudget& work) {
  std::vector<Rule> rules;
  for (const RuleText& text : texts) {
    // Fixed cost of a rule.
    work.spend(6000);
    Rule rule(text, start, work);
    if (!rule.reaches_a_time())
      throw ScheduleError{
          "it never fires: INTERVAL, counted from DTSTART, steps over all times that "
          "BYHOUR, BYMINUTE and BYSECOND leave"};
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
    throw ScheduleError{"it never fires: up to the year 9999 no day passes all parts of its rule"};
  plan->zone = std::move(lines.zone);
  plan->times = std::move(lines.times);
  plan->excluded_times = std::move(lines.excluded_times);
  next_of(*plan, now, work);
  if (work.used_up()) throw ScheduleError{too_much_work};
  return Recurrence(std::move(plan));
}

}  // namespace

Schedule parse_schedule(std::string_view text, UnixSeconds now) {
  if (text.size() > max_schedule)
    return Bad{"it has " + std::to_string(text.size()) + " bytes; a schedule has at most " +
               std::to_string(max_schedule)};
  if (text == "STOP") return Stop{};
  if (text == "CONTINUE") return Continue{};
  if (text == "NOW") return Now{};
  if (text.starts_with("AT:")) return parse_at(text.substr(3));
  try {
    return parse_recurrence(text, now);
  } catch (const ScheduleError& error) {
    return Bad{error.why};
  }
}

}  // namespace w8y::schedule

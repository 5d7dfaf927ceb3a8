#include "schedule/rule.hpp"

#include <algorithm>

namespace w8y::schedule {

namespace {

constexpr Wall end_of_time = (last_day + 1) * day_length - 1;

/// Completes a rule: DTSTART provides the BYxxx parts that are missing, unless the frequency
/// implies them.
RuleText completed(RuleText text, Wall start) {
  const auto date = date_of(day_of(start));
  DayFilter& days = text.days;
  const bool no_days = days.weeks.none() && days.weeks_back.none() && days.year_days.none() &&
                       days.year_days_back.none() && days.month_days.none() &&
                       days.month_days_back.none() && days.weekdays.none() && days.nth.empty();
  if (no_days && text.frequency == Frequency::yearly && days.months.none())
    days.months.set(static_cast<unsigned>(date.month()));
  if (no_days && text.frequency <= Frequency::monthly)
    days.month_days.set(static_cast<unsigned>(date.day()));
  if (no_days && text.frequency == Frequency::weekly)
    days.weekdays.set(static_cast<std::size_t>(weekday_of(day_of(start))));
  if (text.frequency > Frequency::monthly) {
    for (const auto& day : days.nth) days.weekdays.set(static_cast<std::size_t>(day.first));
    days.nth.clear();
  }
  days.nth_in_month = text.frequency == Frequency::monthly || days.months.any();
  const int second = second_of_day(start);
  if (text.frequency < Frequency::hourly && text.hours.empty()) text.hours = {second / 3600};
  if (text.frequency < Frequency::minutely && text.minutes.empty())
    text.minutes = {second / 60 % 60};
  if (text.frequency < Frequency::secondly && text.seconds.empty()) text.seconds = {second % 60};
  return text;
}

template <std::size_t Size>
std::bitset<Size> set_of(const std::vector<int>& values) {
  std::bitset<Size> result;
  if (values.empty()) result.set();
  for (const int number : values) result.set(static_cast<std::size_t>(number));
  return result;
}

template <std::size_t Size>
bool has_all(const std::bitset<Size>& whole, const std::bitset<Size>& part) {
  return (part & ~whole).none();
}

}  // namespace

Rule::Rule(const RuleText& text, Wall start, WorkBudget& work)
    : start_(start), last_(text.until.value_or(end_of_time)) {
  const RuleText whole = completed(text, start);
  pattern_ =
      whole.frequency < Frequency::daily ? make_spans(whole, start) : make_steps(whole, start);
  clock_ = clock_of(whole);
  every_day_ = whole.days.passes_all();
  plain_ = whole.interval == 1 && whole.positions.empty() && !text.count && !text.until;
  if (!text.count) return;
  if (*text.count < 1)
    last_ = start - 1;
  else if (const auto end = pattern_->nth(*text.count, work))
    last_ = std::min(last_, *end);
}

Rule::Clock Rule::clock_of(const RuleText& text) {
  return {set_of<24>(text.hours), set_of<60>(text.minutes), set_of<60>(text.seconds)};
}

std::optional<Wall> Rule::next(Wall least, WorkBudget& work) const {
  if (least > last_) return {};
  const auto found = pattern_->next(std::max(least, start_), work);
  if (!found || *found > last_) return {};
  return found;
}

bool Rule::fires(WorkBudget& work) const {
  return pattern_->next(start_, work).has_value();
}

Wall Rule::covers_until(Wall time, const Rule& other) const noexcept {
  if (!plain_ || !has_all(clock_.minutes, other.clock_.minutes) ||
      !has_all(clock_.seconds, other.clock_.seconds))
    return time + 1;
  if (!has_all(clock_.hours, other.clock_.hours)) return (divide_down(time, 3600) + 1) * 3600;
  return every_day_ ? end_of_time + 1 : (day_of(time) + 1) * day_length;
}

}  // namespace w8y::schedule

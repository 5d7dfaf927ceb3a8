#include "schedule/days.hpp"

#include <algorithm>

namespace w8y::schedule {

namespace {

constexpr int weeks_end = 373;

std::bitset<weeks_end> nth_weekdays(const DayFilter& filter, int year) {
  std::bitset<weeks_end> result;
  const Day start = day_from(year, 1, 1);
  const auto mark = [&](int first, int last) {
    for (const auto& [weekday, n] : filter.nth) {
      const int edge = n < 0 ? last : first;
      const int on_edge = weekday_of(start + edge);
      const int day = n < 0 ? last + (n + 1) * 7 - (on_edge - weekday + 7) % 7
                            : first + (n - 1) * 7 + (weekday - on_edge + 7) % 7;
      if (day >= first && day <= last) result.set(static_cast<std::size_t>(day));
    }
  };
  if (!filter.nth_in_month) {
    mark(0, length_of(year) - 1);
    return result;
  }
  for (unsigned month = 1; month <= 12; ++month) {
    if (filter.months.any() && !filter.months[month]) continue;
    const Day next = month == 12 ? day_from(year + 1, 1, 1) : day_from(year, month + 1, 1);
    mark(static_cast<int>(day_from(year, month, 1) - start), static_cast<int>(next - start) - 1);
  }
  return result;
}

/// Weeks as dateutil defines them. They are the weeks of ISO, except that the last and first days
/// of a year belong to a week of a neighbouring year only if that is week 1 of the next year, or
/// the last week of the last year.
class Weeks {
 public:
  Weeks(const DayFilter& filter, int year)
      : filter_(filter), year_(year), start_weekday_(weekday_of(day_from(year, 1, 1))) {
    const int until_start = (7 - start_weekday_ + filter.week_start) % 7;
    // `first_`: day of this year on which week 1 starts, or 0 if it starts in the year before.
    // `shift_`: number of days of week 1 that are in the year before.
    first_ = until_start >= 4 ? 0 : until_start;
    shift_ = until_start >= 4 ? 7 - until_start : 0;
    const int days =
        length_of(year) +
        (until_start >= 4 ? (start_weekday_ - filter.week_start + 7) % 7 : -until_start);
    count_ = days / 7 + days % 7 / 4;
  }

  std::bitset<weeks_end> marked() {
    for (int n = 1; n <= count_; ++n)
      if (filter_.weeks[static_cast<std::size_t>(n)] ||
          filter_.weeks_back[static_cast<std::size_t>(count_ + 1 - n)])
        mark(n == 1 ? first_ : first_ + (n - 1) * 7 - shift_);
    const int next_first = first_ + count_ * 7 - shift_;
    if (filter_.weeks[1] && next_first < length_of(year_)) mark(next_first);
    if (first_ > 0 && last_of_last_year())
      for (int day = 0; day < first_; ++day) marked_.set(static_cast<std::size_t>(day));
    return marked_;
  }

 private:
  void mark(int day) {
    do {
      marked_.set(static_cast<std::size_t>(day++));
    } while ((start_weekday_ + day) % 7 != filter_.week_start);
  }

  bool last_of_last_year() const {
    if (filter_.weeks_back[1]) return true;
    const int weekday = weekday_of(day_from(year_ - 1, 1, 1));
    const int until_start = (7 - weekday + filter_.week_start) % 7;
    // If week 1 of the last year starts in the last year, dateutil uses the length of this year. So
    // this code uses it too.
    const int rest = until_start >= 4
                         ? (length_of(year_ - 1) + (weekday - filter_.week_start + 7) % 7) % 7
                         : (length_of(year_) - first_) % 7;
    return filter_.weeks[static_cast<std::size_t>(52 + rest / 4)];
  }

  const DayFilter& filter_;
  int year_;
  int start_weekday_;
  int first_ = 0;
  int shift_ = 0;
  int count_ = 0;
  std::bitset<weeks_end> marked_;
};

}  // namespace

bool DayFilter::passes_all() const {
  return months.none() && month_days.none() && month_days_back.none() && year_days.none() &&
         year_days_back.none() && weeks.none() && weeks_back.none() && weekdays.none() &&
         nth.empty();
}

Days::Days(DayFilter filter) : filter_(std::move(filter)), all_(filter_.passes_all()) {}

YearDays Days::record_list(int year) const {
  const DayFilter& f = filter_;
  const bool by_month_day = f.month_days.any() || f.month_days_back.any();
  const bool by_year_day = f.year_days.any() || f.year_days_back.any();
  const bool by_week = f.weeks.any() || f.weeks_back.any();
  const auto weeks = by_week ? Weeks(f, year).marked() : std::bitset<weeks_end>();
  const auto nth = f.nth.empty() ? std::bitset<weeks_end>() : nth_weekdays(f, year);
  const Day start = day_from(year, 1, 1);
  YearDays result;
  for (int i = 0; i < length_of(year) + 7; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto date = date_of(start + i);
    const int own_year = static_cast<int>(date.year());
    const unsigned month = static_cast<unsigned>(date.month());
    const unsigned day = static_cast<unsigned>(date.day());
    const auto month_length =
        static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day());
    const auto year_day = static_cast<std::size_t>(start + i - day_from(own_year, 1, 1)) + 1;
    const auto year_day_back = static_cast<std::size_t>(length_of(own_year)) + 1 - year_day;
    if (f.months.any() && !f.months[month]) continue;
    if (by_week && !weeks[at]) continue;
    if (f.weekdays.any() && !f.weekdays[static_cast<std::size_t>(weekday_of(start + i))]) continue;
    if (!f.nth.empty() && !nth[at]) continue;
    if (by_month_day && !f.month_days[day] && !f.month_days_back[month_length + 1 - day]) continue;
    if (by_year_day && !f.year_days[year_day] && !f.year_days_back[year_day_back]) continue;
    result.has.set(at);
    result.list.push_back(static_cast<std::int16_t>(i));
  }
  return result;
}

const YearDays& Days::in(int year) const {
  if (last_answer_ != nullptr && last_asked_ == year) return *last_answer_;
  const int weekday = weekday_of(day_from(year, 1, 1));
  const auto kind = static_cast<std::size_t>(weekday * 8 + (is_leap(year - 1) ? 4 : 0) +
                                             (is_leap(year) ? 2 : 0) + (is_leap(year + 1) ? 1 : 0));
  if (!kinds_[kind]) kinds_[kind] = std::make_unique<const YearDays>(record_list(year));
  last_asked_ = year;
  last_answer_ = kinds_[kind].get();
  return *last_answer_;
}

bool Days::has(Day day) const {
  if (all_) return true;
  const auto year = year_of(day);
  return in(year.number).has[static_cast<std::size_t>(day - year.start)];
}

std::optional<Day> Days::next(Day day, WorkBudget& work) const {
  if (day > last_day) return {};
  if (all_) return day;
  while (day <= last_day && work.spend()) {
    const auto year = year_of(day);
    const YearDays& days = in(year.number);
    if (days.has[static_cast<std::size_t>(day - year.start)]) return day;
    const auto found = std::lower_bound(days.list.begin(), days.list.end(), day - year.start);
    if (found != days.list.end() && *found < year.length) return year.start + *found;
    day = year.start + year.length;
  }
  return {};
}

}  // namespace w8y::schedule

// Days and seconds of a wall clock, counted from 1970-01-01T00:00:00 on that clock. The zone of the
// clock is up to Zone.
#pragma once

#include <chrono>
#include <cstdint>

namespace w8y::schedule {

using Wall = std::int64_t;  ///< seconds on the wall clock
using Day = std::int64_t;   ///< days since 1970-01-01

inline constexpr Wall day_length = 86400;
inline constexpr int first_year = 1;
inline constexpr int last_year = 9999;

/// Quotient rounded down, also for a negative `value`.
constexpr std::int64_t divide_down(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}
constexpr std::int64_t divide_up(std::int64_t value, std::int64_t by) {
  return -divide_down(-value, by);
}
constexpr Day day_of(Wall time) {
  return divide_down(time, day_length);
}
constexpr int second_of_day(Wall time) {
  return static_cast<int>(time - day_of(time) * day_length);
}

/// Day of the week; 0 is Monday.
constexpr int weekday_of(Day day) {
  return static_cast<int>(day + 3 - divide_down(day + 3, 7) * 7);
}
constexpr bool is_leap(int year) {
  return std::chrono::year(year).is_leap();
}
constexpr int length_of(int year) {
  return is_leap(year) ? 366 : 365;
}
constexpr Day day_from(int year, unsigned month, unsigned day) {
  using namespace std::chrono;
  return sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day))
      .time_since_epoch()
      .count();
}
constexpr std::chrono::year_month_day date_of(Day day) {
  return std::chrono::sys_days(std::chrono::days(day));
}
constexpr int year_of(Day day) {
  return static_cast<int>(date_of(day).year());
}

/// Caches the year of a day, for many consecutive days: computed only when the year changes.
class YearOf {
 public:
  struct Year {
    int number = 0;
    Day start = 0;
    int length = 0;
  };
  const Year& operator()(Day day) {
    if (day < year_.start || day >= year_.start + year_.length) {
      year_.number = year_of(day);
      year_.start = day_from(year_.number, 1, 1);
      year_.length = length_of(year_.number);
    }
    return year_;
  }

 private:
  Year year_;
};

inline constexpr Day first_day = day_from(first_year, 1, 1);
inline constexpr Day last_day = day_from(last_year, 12, 31);

}  // namespace w8y::schedule

// Days that a rule selects: BYMONTH, BYMONTHDAY, BYYEARDAY, BYWEEKNO, BYDAY.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/civil.hpp"
#include "schedule/work_budget.hpp"

namespace w8y::schedule {

/// Filters of days. A day must pass each filter that is set. Numbers that count from the end are in
/// separate members.
struct DayFilter {
  std::bitset<13> months;
  std::bitset<32> month_days, month_days_back;
  std::bitset<367> year_days, year_days_back;
  std::bitset<54> weeks, weeks_back;
  std::bitset<7> weekdays;  ///< from Monday
  std::vector<std::pair<int, int>>
      nth;                    ///< weekday, and its index in its month or year; -1: the last
  bool nth_in_month = false;  ///< `nth` counts within each month of BYMONTH
  int week_start = 0;

  bool passes_all() const;
};

/// The days of a year that pass the filter, counted from 0. The seven entries after its last day
/// are the first days of the next year, for weeks that start in this year.
struct YearDays {
  std::bitset<373> has;
  std::vector<std::int16_t> list;
};

class Days {
 public:
  explicit Days(DayFilter filter);

  const YearDays& in(int year) const;
  bool all() const noexcept { return all_; }
  YearOf::Year year_of(Day day) const { return year_of_(day); }
  bool has(Day day) const;
  /// The first selected day from `day` on. nullopt: none up to the year 9999, or the budget is used
  /// up.
  std::optional<Day> next(Day day, WorkBudget& work) const;
  int week_start() const noexcept { return filter_.week_start; }

 private:
  YearDays record_list(int year) const;

  DayFilter filter_;
  bool all_;
  /// By kind of year: the weekday of its first day, and whether it and its neighbours are leap
  /// years. Filled on demand.
  mutable std::array<std::unique_ptr<const YearDays>, 56> kinds_;
  mutable YearOf year_of_;
  mutable int last_asked_ = 0;
  mutable const YearDays* last_answer_ = nullptr;
};

}  // namespace w8y::schedule

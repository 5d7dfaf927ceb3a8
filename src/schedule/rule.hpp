// One RRULE or EXRULE, and its times as python-dateutil computes them, since workers of Redbike use
// that: DTSTART counts only if it matches, and each BYxxx is a filter or an expansion as there.
// libical parses the text of a rule. Its own iterator steps through all times from DTSTART on, has
// no limit, and differs in BYWEEKNO, BYSETPOS, BYYEARDAY and other parts, so the times are computed
// here.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "schedule/days.hpp"
#include "schedule/times.hpp"

namespace w8y::schedule {

enum class Frequency { yearly, monthly, weekly, daily, hourly, minutely, secondly };

/// Parsed text of a rule, without DTSTART.
struct RuleText {
  Frequency frequency = Frequency::daily;
  std::int64_t interval = 1;
  std::optional<std::int64_t> count;
  std::optional<Wall> until;
  DayFilter days;
  std::vector<int> hours, minutes, seconds;  ///< ascending, no duplicates; empty: not given
  std::vector<int> positions;                ///< BYSETPOS
};

/// Maximum interval. Larger ones have the same effect: no second time before the end of the year
/// 9999.
inline constexpr std::int64_t largest_interval = 1'000'000'000'000;

/// The times of a rule without its COUNT and UNTIL.
class Pattern {
 public:
  virtual ~Pattern() = default;
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// The first time from `least` on. nullopt: none up to the year 9999, or the budget is used up.
  virtual std::optional<Wall> next(Wall least, WorkBudget& work) const = 0;
  /// The nth time of all, counted from 1.
  virtual std::optional<Wall> nth(std::int64_t n, WorkBudget& work) const = 0;
  /// False: INTERVAL skips every time of day that BYHOUR, BYMINUTE and BYSECOND allow.
  virtual bool reaches_a_time() const = 0;
};

/// YEARLY, MONTHLY, WEEKLY: selected days of each span.
std::unique_ptr<const Pattern> make_spans(const RuleText& text, Wall start);
/// DAILY, HOURLY, MINUTELY, SECONDLY: every nth day, hour, minute or second that passes the
/// filters.
std::unique_ptr<const Pattern> make_steps(const RuleText& text, Wall start);

class Rule {
 public:
  /// `start` is DTSTART. The search for the last time of COUNT uses `work`. If it is used up, the
  /// rule is unusable.
  Rule(const RuleText& text, Wall start, WorkBudget& work);

  /// The first time from `least` on.
  std::optional<Wall> next(Wall least, WorkBudget& work) const;
  bool has(Wall time, WorkBudget& work) const { return next(time, work) == time; }
  bool reaches_a_time() const { return pattern_->reaches_a_time(); }
  /// Whether the rule has any time, apart from COUNT and UNTIL.
  bool fires(WorkBudget& work) const;
  /// Returns the end of a period that starts at `time` and in which this EXRULE excludes all times
  /// of `other`. Both rules must have `time`. If the period is not easily known, it is one second.
  Wall covers_until(Wall time, const Rule& other) const noexcept;

 private:
  /// Hours, minutes and seconds that times of the rule can have.
  struct Clock {
    std::bitset<24> hours;
    std::bitset<60> minutes, seconds;
  };
  static Clock clock_of(const RuleText& text);

  std::unique_ptr<const Pattern> pattern_;
  Wall start_;
  Wall last_;
  Clock clock_;
  bool every_day_;  ///< BYxxx selects every day
  bool plain_;      ///< the rule has every time that `clock_` allows, on every selected day
};

}  // namespace w8y::schedule

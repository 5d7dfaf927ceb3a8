// One RRULE or EXRULE, and the times that it means. As python-dateutil understands them, which is
// what workers of Redbike read them with: DTSTART counts only if it matches, and each BYxxx is a
// filter or an expansion as there. libical reads the text of a rule; its own iterator walks, can't
// be bounded, and differs in BYWEEKNO, BYSETPOS, BYYEARDAY and others, so the times are found here.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "schedule/days.hpp"
#include "schedule/times.hpp"

namespace w8y::schedule {

enum class Frequency { yearly, monthly, weekly, daily, hourly, minutely, secondly };

/// What a rule says, whatever it begins at.
struct RuleText {
  Frequency frequency = Frequency::daily;
  std::int64_t interval = 1;
  std::optional<std::int64_t> count;
  std::optional<Wall> until;
  DayFilter days;
  std::vector<int> hours, minutes, seconds;  ///< ascending, no doubles; empty: not given
  std::vector<int> positions;                ///< BYSETPOS
};

/// Larger ones are the same as this one: nothing comes twice before the year 9999 is over.
inline constexpr std::int64_t largest_interval = 1'000'000'000'000;

/// The times of a rule without its COUNT and UNTIL.
class Pattern {
 public:
  virtual ~Pattern() = default;
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// The first one from `least` on. nullopt: none up to the year 9999, or the work is used up.
  virtual std::optional<Wall> next(Wall least, WorkBudget& work) const = 0;
  /// The nth one of all, from 1 on.
  virtual std::optional<Wall> nth(std::int64_t n, WorkBudget& work) const = 0;
  /// False: INTERVAL steps over each time of day that BYHOUR, BYMINUTE and BYSECOND leave open.
  virtual bool reaches_a_time() const = 0;
};

/// YEARLY, MONTHLY, WEEKLY: some days of each span.
std::unique_ptr<const Pattern> make_spans(const RuleText& text, Wall start);
/// DAILY to SECONDLY: steps of equal length, of which some count.
std::unique_ptr<const Pattern> make_steps(const RuleText& text, Wall start);

class Rule {
 public:
  /// `start` is DTSTART. `work` pays for finding the last of COUNT; where it is used up, the rule
  /// is of no use.
  Rule(const RuleText& text, Wall start, WorkBudget& work);

  /// The first time from `least` on.
  std::optional<Wall> next(Wall least, WorkBudget& work) const;
  bool has(Wall time, WorkBudget& work) const { return next(time, work) == time; }
  bool reaches_a_time() const { return pattern_->reaches_a_time(); }
  /// Whether its parts ever come together, COUNT and UNTIL aside.
  bool fires(WorkBudget& work) const;
  /// Of an EXRULE that has `time`, a time of `other`: until when it has all times of `other`. The
  /// next second, where that is not easily said.
  Wall covers_until(Wall time, const Rule& other) const noexcept;

 private:
  /// Parts of times of day that can be the rule's.
  struct Clock {
    std::bitset<24> hours;
    std::bitset<60> minutes, seconds;
  };
  static Clock clock_of(const RuleText& text);

  std::unique_ptr<const Pattern> pattern_;
  Wall start_;
  Wall last_;
  Clock clock_;
  bool every_day_;  ///< no day is left out by BYxxx
  bool plain_;      ///< all days that pass, with all times that `clock_` can make
};

}  // namespace w8y::schedule

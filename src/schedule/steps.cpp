// DAILY, HOURLY, MINUTELY and SECONDLY rules. A step is a day, an hour, a minute or a second. Steps
// are counted from 1970, and every nth step from that of DTSTART is a candidate.
#include <algorithm>
#include <bitset>
#include <numeric>

#include "schedule/rule.hpp"

namespace w8y::schedule {

namespace {

Wall step_length(Frequency frequency) {
  switch (frequency) {
    case Frequency::hourly:
      return 3600;
    case Frequency::minutely:
      return 60;
    case Frequency::secondly:
      return 1;
    default:
      return day_length;
  }
}

/// Times within a step of a rule. BYxxx of the unit of the step and of larger units are filters.
Times times_of(const RuleText& text) {
  const std::vector<int> none = {0};
  return {text.frequency >= Frequency::hourly ? none : text.hours,
          text.frequency >= Frequency::minutely ? none : text.minutes,
          text.frequency >= Frequency::secondly ? none : text.seconds};
}

/// Hours, minutes or seconds that the rule allows. These numbers are called open.
class Gate {
 public:
  Gate() = default;
  /// Empty: all.
  explicit Gate(const std::vector<int>& numbers) {
    if (numbers.empty()) return;
    open_.reset();
    for (const int number : numbers) open_.set(static_cast<std::size_t>(number));
  }
  bool all() const { return open_.all(); }
  bool operator[](std::int64_t number) const { return open_[static_cast<std::size_t>(number)]; }
  /// The next open number from `number` on, or `end`.
  std::int64_t next(std::int64_t number, std::int64_t end) const {
    while (number < end && !(*this)[number]) ++number;
    return number;
  }

 private:
  std::bitset<60> open_ = std::bitset<60>().set();
};

class Steps : public Pattern {
 public:
  Steps(const RuleText& text, Wall start)
      : start_(start),
        length_(step_length(text.frequency)),
        per_day_(day_length / length_),
        first_(divide_down(start, length_)),
        interval_(text.interval),
        days_(text.days),
        times_(times_of(text)) {
    if (length_ <= 3600) hours_ = Gate(text.hours);
    if (length_ <= 60) minutes_ = Gate(text.minutes);
    if (length_ == 1) seconds_ = Gate(text.seconds);
    if (!text.positions.empty()) times_.keep(text.positions);
    gated_ = !hours_.all() || !minutes_.all() || !seconds_.all();
    if (gated_) count_open_steps();
  }

  std::optional<Wall> next(Wall least, WorkBudget& work) const override {
    if (times_.size() == 0) return {};
    least = std::max(least, start_);
    std::int64_t step = aligned(divide_down(least, length_));
    while (work.spend()) {
      const auto found = next_step(step, work);
      if (!found) return {};
      const Wall begin = *found * length_;
      const std::int64_t place =
          begin >= least ? 0 : times_.first_from(static_cast<int>(least - begin));
      if (place < times_.size()) return begin + times_.at(place);
      step = *found + interval_;
    }
    return {};
  }

  bool reaches_a_time() const override {
    if (!gated_) return true;
    // The position of the steps within a day shifts from day to day, by a multiple of this number.
    const std::int64_t shift = std::gcd(interval_, per_day_);
    const std::int64_t first = first_ - divide_down(first_, per_day_) * per_day_;
    for (std::int64_t in_day = first % shift; in_day < per_day_; in_day += shift)
      if (open(in_day)) return true;
    return false;
  }

  std::optional<Wall> nth(std::int64_t n, WorkBudget& work) const override {
    if (times_.size() == 0) return {};
    // The step of DTSTART may have started before it.
    std::int64_t step = first_;
    if (passes(step)) {
      const std::int64_t before = times_.first_from(static_cast<int>(start_ - step * length_));
      if (n <= times_.size() - before) return step * length_ + times_.at(before + n - 1);
      n -= times_.size() - before;
    }
    step += interval_;
    const std::int64_t whole = (n - 1) / times_.size();
    const int rest = times_.at((n - 1) % times_.size());
    const auto found =
        days_.all() && !gated_ ? nth_of_all(step, whole) : nth_open(step, whole, work);
    if (!found) return {};
    return *found * length_ + rest;
  }

 private:
  static constexpr Day beyond = last_day + 1;

  /// The first step from `step` on that is a multiple of the interval after the first.
  std::int64_t aligned(std::int64_t step) const {
    return first_ + divide_up(step - first_, interval_) * interval_;
  }
  bool open(std::int64_t in_day) const {
    const std::int64_t second = in_day * length_;
    return hours_[second / 3600] && minutes_[second / 60 % 60] && seconds_[second % 60];
  }
  bool passes(std::int64_t step) const {
    const Day day = divide_down(step, per_day_);
    return days_.has(day) && open(step - day * per_day_);
  }

  /// The next step that passes all filters; `step` is aligned.
  std::optional<std::int64_t> next_step(std::int64_t step, WorkBudget& work) const {
    while (work.spend()) {
      const Day day = divide_down(step, per_day_);
      const auto match = days_.next(day, work);
      if (!match) return {};
      if (*match != day) {
        step = aligned(*match * per_day_);
        continue;
      }
      if (!gated_) return step;
      const std::int64_t in_day = step - day * per_day_;
      // The first step of a day determines the others.
      if (in_day >= interval_ || open_in_day(in_day) > 0) {
        const auto found = next_open(in_day, work);
        if (found) return day * per_day_ + *found;
      }
      step = aligned((day + 1) * per_day_);
    }
    return {};
  }

  /// The next open step of the day, from the aligned `in_day` on.
  std::optional<std::int64_t> next_open(std::int64_t in_day, WorkBudget& work) const {
    while (in_day < per_day_ && work.spend()) {
      const std::int64_t second = in_day * length_;
      const std::int64_t hour = second / 3600, minute = second / 60 % 60;
      Wall target = second;
      if (!hours_[hour])
        target = hours_.next(hour, 24) * 3600;
      else if (!minutes_[minute])
        target = hour * 3600 + minutes_.next(minute, 60) * 60;
      else if (!seconds_[second % 60])
        target = second - second % 60 + seconds_.next(second % 60, 60);
      else
        return in_day;
      in_day += divide_up(target / length_ - in_day, interval_) * interval_;
    }
    return {};
  }

  /// Number of aligned steps of a day that are open. `first` is the first aligned step of the day.
  std::int64_t open_in_day(std::int64_t first) const {
    if (first >= per_day_) return 0;
    if (!gated_) return (per_day_ - 1 - first) / interval_ + 1;
    if (interval_ >= per_day_) return open(first) ? 1 : 0;
    return open_steps_[static_cast<std::size_t>(first)];
  }
  void count_open_steps() {
    if (interval_ >= per_day_) return;
    open_steps_.resize(static_cast<std::size_t>(interval_));
    for (std::int64_t in_day = 0; in_day < per_day_; ++in_day)
      if (open(in_day)) ++open_steps_[static_cast<std::size_t>(in_day % interval_)];
  }

  std::optional<std::int64_t> nth_of_all(std::int64_t step, std::int64_t whole) const {
    const std::int64_t end = beyond * per_day_;
    if (step >= end || whole > (end - step) / interval_) return {};
    return step + whole * interval_;
  }

  /// The step that has `whole` open steps before it, from the aligned `step` on. Searches day by
  /// day.
  std::optional<std::int64_t> nth_open(std::int64_t step, std::int64_t whole,
                                       WorkBudget& work) const {
    Day day = divide_down(step, per_day_);
    // The remainder of the first day is searched step by step.
    for (; divide_down(step, per_day_) == day && work.spend(); step += interval_) {
      if (!passes(step)) continue;
      if (whole-- == 0) return step;
    }
    while (work.spend()) {
      day = divide_down(step, per_day_);
      const auto match = days_.next(day, work);
      if (!match) return {};
      if (*match != day) {
        step = aligned(*match * per_day_);
        continue;
      }
      const std::int64_t here = open_in_day(step - day * per_day_);
      if (whole < here) break;
      whole -= here;
      step = aligned((day + 1) * per_day_);
    }
    for (; work.spend(); step += interval_)
      if (open(step - day * per_day_) && whole-- == 0) return step;
    return {};
  }

  Wall start_;
  Wall length_;
  std::int64_t per_day_;
  std::int64_t first_;  ///< the step of DTSTART
  std::int64_t interval_;
  Days days_;
  Times times_;
  Gate hours_, minutes_, seconds_;
  bool gated_ = false;
  std::vector<std::int32_t> open_steps_;  ///< see open_in_day()
};

}  // namespace

std::unique_ptr<const Pattern> make_steps(const RuleText& text, Wall start) {
  return std::make_unique<const Steps>(text, start);
}

}  // namespace w8y::schedule

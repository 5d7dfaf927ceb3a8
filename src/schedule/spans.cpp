// YEARLY, MONTHLY and WEEKLY rules.
#include <algorithm>

#include "schedule/rule.hpp"

namespace w8y::schedule {

namespace {

/// Days of a year from `from` to `to`, without `to`, counted from 0.
struct Span {
  int year = 0;
  Day year_start = 0;
  Day from = 0;
  Day to = 0;
};

/// The selected days of a span.
struct Chosen {
  Day year_start = 0;
  const std::int16_t* begin = nullptr;
  const std::int16_t* end = nullptr;

  std::int64_t size() const { return end - begin; }
};

class Spans : public Pattern {
 public:
  Spans(const RuleText& text, Wall start)
      : start_(start),
        first_(day_of(start)),
        first_month_(month_of(first_)),
        interval_(text.interval),
        days_(text.days),
        times_(text.hours, text.minutes, text.seconds),
        positions_(text.positions),
        frequency_(text.frequency) {
    for (const int position : positions_) nearest_ = std::min(nearest_, std::abs(position));
  }

  std::optional<Wall> next(Wall least, WorkBudget& work) const override {
    least = std::max(least, start_);
    std::int64_t k = index_of(day_of(least));
    for (auto span = span_at(k); span && work.spend(4); span = span_at(k)) {
      const Chosen days = chosen(*span);
      if (days.size() > 0) {
        const auto found =
            positions_.empty() ? next_of_all(days, least) : next_kept(days, least, work);
        if (found) return found;
      }
      k = after(k, *span);
    }
    return {};
  }

  bool reaches_a_time() const override { return true; }

  std::optional<Wall> nth(std::int64_t n, WorkBudget& work) const override {
    std::int64_t k = 0;
    for (auto span = span_at(k); span && work.spend(4); span = span_at(k)) {
      const Chosen days = chosen(*span);
      if (!positions_.empty()) {
        const auto kept = all_kept(days, work);
        if (n <= static_cast<std::int64_t>(kept.size()))
          return kept[static_cast<std::size_t>(n - 1)];
        n -= static_cast<std::int64_t>(kept.size());
      } else {
        const std::int64_t before = k == 0 ? place_of(days, start_) : 0;
        const std::int64_t size = days.size() * times_.size() - before;
        if (n <= size) return at(days, before + n - 1);
        n -= size;
      }
      k = after(k, *span);
    }
    return {};
  }

 private:
  static std::int64_t month_of(Day day) {
    const auto date = date_of(day);
    return static_cast<int>(date.year()) * 12LL + static_cast<unsigned>(date.month()) - 1;
  }
  Day week_of(Day day) const { return day - (weekday_of(day) - days_.week_start() + 7) % 7; }

  /// The first span that has days from `day` on.
  std::int64_t index_of(Day day) const {
    const std::int64_t units =
        frequency_ == Frequency::yearly    ? days_.year_of(day).number - first_month_ / 12
        : frequency_ == Frequency::monthly ? month_of(day) - first_month_
                                           : (week_of(day) - week_of(first_)) / 7;
    return divide_up(units, interval_);
  }

  std::optional<Span> span_at(std::int64_t k) const {
    if (frequency_ == Frequency::weekly) {
      const Day begin = k == 0 ? first_ : week_of(first_) + k * interval_ * 7;
      if (begin > last_day) return {};
      const auto year = days_.year_of(begin);
      return Span{year.number, year.start, begin - year.start, week_of(begin) + 7 - year.start};
    }
    const bool yearly = frequency_ == Frequency::yearly;
    const std::int64_t month =
        yearly ? (first_month_ / 12 + k * interval_) * 12 : first_month_ + k * interval_;
    if (month / 12 > last_year) return {};
    const int year = static_cast<int>(month / 12);
    const Day start = day_from(year, 1, 1);
    if (yearly) return Span{year, start, 0, length_of(year)};
    const Day begin = day_from(year, static_cast<unsigned>(month % 12) + 1, 1);
    const Day end = month % 12 == 11 ? start + length_of(year)
                                     : day_from(year, static_cast<unsigned>(month % 12) + 2, 1);
    return Span{year, start, begin - start, end - start};
  }

  /// The next span that can have a selected day.
  std::int64_t after(std::int64_t k, const Span& span) const {
    if (days_.all()) return k + 1;
    const auto& list = days_.in(span.year).list;
    const auto found = std::lower_bound(list.begin(), list.end(), span.to);
    const Day day = span.year_start + (found == list.end() ? length_of(span.year) : *found);
    return std::max(k + 1, index_of(day));
  }

  Chosen chosen(const Span& span) const {
    const auto& list = days_.in(span.year).list;
    return {span.year_start,
            list.data() + (std::lower_bound(list.begin(), list.end(), span.from) - list.begin()),
            list.data() + (std::lower_bound(list.begin(), list.end(), span.to) - list.begin())};
  }

  Wall at(const Chosen& days, std::int64_t index) const {
    const Day day = days.year_start + days.begin[index / times_.size()];
    return day * day_length + times_.at(index % times_.size());
  }

  /// Number of times of these days before `time`.
  std::int64_t place_of(const Chosen& days, Wall time) const {
    const Day day = day_of(time) - days.year_start;
    const auto* const found = std::lower_bound(days.begin, days.end, day);
    const std::int64_t place = (found - days.begin) * times_.size();
    if (found == days.end || *found != day) return place;
    return place + times_.first_from(second_of_day(time));
  }

  std::optional<Wall> next_of_all(const Chosen& days, Wall least) const {
    const std::int64_t place = place_of(days, least);
    if (place >= days.size() * times_.size()) return {};
    return at(days, place);
  }

  /// The time at a position of BYSETPOS among all times of the span.
  std::optional<Wall> kept(const Chosen& days, int position) const {
    const std::int64_t size = days.size() * times_.size();
    const std::int64_t index = position > 0 ? position - 1 : size + position;
    if (index < 0 || index >= size) return {};
    return at(days, index);
  }

  std::optional<Wall> next_kept(const Chosen& days, Wall least, WorkBudget& work) const {
    if (nearest_ > days.size() * times_.size()) return {};
    work.spend(static_cast<std::int64_t>(positions_.size()));
    std::optional<Wall> best;
    for (const int position : positions_) {
      const auto time = kept(days, position);
      if (time && *time >= least && (!best || *time < *best)) best = time;
    }
    return best;
  }

  /// The times of BYSETPOS from DTSTART on, in order.
  std::vector<Wall> all_kept(const Chosen& days, WorkBudget& work) const {
    std::vector<Wall> result;
    work.spend(4 * static_cast<std::int64_t>(positions_.size()));
    for (const int position : positions_)
      if (const auto time = kept(days, position); time && *time >= start_) result.push_back(*time);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  Wall start_;
  Day first_;
  std::int64_t first_month_;  ///< counted from the year 0
  std::int64_t interval_;
  Days days_;
  Times times_;
  std::vector<int> positions_;
  int nearest_ = 1000;  ///< minimum distance of a BYSETPOS position from the start or end
  Frequency frequency_;
};

}  // namespace

std::unique_ptr<const Pattern> make_spans(const RuleText& text, Wall start) {
  return std::make_unique<const Spans>(text, start);
}

}  // namespace w8y::schedule

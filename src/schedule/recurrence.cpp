#include <algorithm>
#include <array>
#include <cstdio>

#include "schedule/recurrence_data.hpp"

namespace w8y::schedule {

namespace {

/// The earliest instant whose wall clock this code supports.
constexpr UnixSeconds earliest_time = first_day * day_length + day_length;

bool contains(const std::vector<UnixSeconds>& times, UnixSeconds time) {
  return std::binary_search(times.begin(), times.end(), time);
}

/// The first time of the rule from `least` on that is not excluded.
std::optional<Wall> next_left(const RecurrenceData& plan, const Rule& rule, Wall least,
                              WorkBudget& work) {
  while (const auto wall = rule.next(least, work)) {
    // Each iteration checks every EXRULE.
    if (!work.spend(8 * static_cast<std::int64_t>(1 + plan.excluded_rules.size()))) return {};
    least = contains(plan.excluded_times, plan.zone->when(*wall)) ? *wall + 1 : *wall;
    for (const Rule& excluded : plan.excluded_rules)
      if (excluded.has(*wall, work)) least = std::max(least, excluded.covers_until(*wall, rule));
    if (least == *wall) return wall;
  }
  return {};
}

/// Returns the first time on the wall clock from `wall` on that is later than `after`, where `wall`
/// is not later. Both are near a time that the clock shows twice or never. From there on, times are
/// in order.
Wall first_later(const Zone& zone, Wall wall, UnixSeconds after) {
  Wall early = wall, late = wall + 2 * day_length;
  while (late - early > 1) {
    const Wall middle = early + (late - early) / 2;
    (zone.when(middle) > after ? late : early) = middle;
  }
  return late;
}

std::optional<UnixSeconds> next_by_rules(const RecurrenceData& plan, UnixSeconds after,
                                         WorkBudget& work) {
  Wall least = plan.zone->wall(after) + 1;
  while (!work.used_up()) {
    std::optional<Wall> best;
    for (const Rule& rule : plan.rules) {
      const auto found = next_left(plan, rule, least, work);
      if (found && (!best || *found < *best)) best = found;
    }
    if (!best) return {};
    const UnixSeconds time = plan.zone->when(*best);
    if (time > after) return time;
    least = first_later(*plan.zone, *best, after);
  }
  return {};
}

std::optional<UnixSeconds> next_by_times(const RecurrenceData& plan, UnixSeconds after,
                                         WorkBudget& work) {
  auto time = std::upper_bound(plan.times.begin(), plan.times.end(), after);
  for (; time != plan.times.end(); ++time) {
    const Wall wall = plan.zone->wall(*time);
    const auto has = [&](const Rule& excluded) { return excluded.has(wall, work); };
    if (!contains(plan.excluded_times, *time) &&
        std::none_of(plan.excluded_rules.begin(), plan.excluded_rules.end(), has))
      return *time;
  }
  return {};
}

}  // namespace

std::optional<UnixSeconds> next_of(const RecurrenceData& plan, UnixSeconds after,
                                   WorkBudget& work) {
  after = std::clamp(after, earliest_time, latest_time);
  const auto by_rules = next_by_rules(plan, after, work);
  const auto by_times = next_by_times(plan, after, work);
  if (work.used_up()) return {};
  const auto next = by_rules && by_times ? std::min(by_rules, by_times)
                    : by_rules           ? by_rules
                                         : by_times;
  if (!next || *next > latest_time) return {};
  return next;
}

Recurrence::Recurrence(std::shared_ptr<const RecurrenceData> plan) noexcept
    : plan_(std::move(plan)) {}

std::optional<UnixSeconds> Recurrence::next_after(UnixSeconds after) const {
  WorkBudget work;
  return next_of(*plan_, after, work);
}

const std::string& Recurrence::zone() const noexcept {
  return plan_->zone->name();
}

std::string Recurrence::in_zone(UnixSeconds time) const {
  const int offset = plan_->zone->offset_at(time);
  const Wall wall = time + offset;
  const auto date = date_of(day_of(wall));
  const int second = second_of_day(wall), east = std::abs(offset);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d%c%02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), second / 3600, second / 60 % 60, second % 60,
                offset < 0 ? '-' : '+', east / 3600, east / 60 % 60);
  return text.data();
}

}  // namespace w8y::schedule

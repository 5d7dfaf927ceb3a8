// Text forms of schedules, and problems that other programs have with them.
#include <algorithm>
#include <array>
#include <cstdio>

#include "schedule/recurrence_data.hpp"

namespace w8y::schedule {

namespace {

std::string iso(UnixSeconds time) {
  const auto date = date_of(day_of(time));
  const int second = second_of_day(time);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), second / 3600, second / 60 % 60, second % 60);
  return text.data();
}

/// Returns "a, b and c".
std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i)
    result += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return result;
}

/// Description of a rule in a few words. Empty if it needs too many.
class Words {
 public:
  Words(const RuleText& rule, std::optional<Wall> start, const std::string& zone)
      : rule_(rule), days_(rule.days), start_(start), zone_(zone) {}

  std::string all() const {
    const int minutes = period();
    const std::string what =
        minutes > 0 && !days().empty() ? "every " + std::to_string(minutes) + " minutes" : days();
    const auto when = minutes > 0 ? std::optional<std::string>("") : times();
    if (what.empty() || !when) return {};
    std::string result = what + *when;
    if (rule_.count)
      result += *rule_.count == 1 ? ", once" : ", " + std::to_string(*rule_.count) + " times";
    if (rule_.until) result += ", until " + iso(*rule_.until).substr(0, 10);
    return result;
  }

 private:
  bool stepwise() const { return rule_.frequency >= Frequency::hourly; }

  std::string every(const std::string& unit) const {
    return rule_.interval == 1 ? "every " + unit
                               : "every " + std::to_string(rule_.interval) + " " + unit + "s";
  }

  std::string days() const {
    const bool rare = days_.months.any() || days_.year_days.any() || days_.year_days_back.any() ||
                      days_.weeks.any() || days_.weeks_back.any() || !rule_.positions.empty();
    const bool in_month =
        days_.month_days.any() || days_.month_days_back.any() || !days_.nth.empty();
    if (rare || (in_month && rule_.frequency != Frequency::monthly)) return {};
    switch (rule_.frequency) {
      case Frequency::weekly:
        return on_weekdays("week");
      case Frequency::daily:
        return on_weekdays("day");
      case Frequency::monthly:
        return days_.weekdays.any() ? "" : on_day_of_month();
      case Frequency::yearly:
        return start_ && days_.passes_all() ? every("year") + " on " + iso(*start_).substr(5, 5)
                                            : "";
      default:
        return days_.passes_all() && rule_.hours.empty() ? every(step()) : "";
    }
  }

  const char* step() const {
    return rule_.frequency == Frequency::hourly     ? "hour"
           : rule_.frequency == Frequency::minutely ? "minute"
                                                    : "second";
  }

  std::string on_weekdays(const std::string& unit) const {
    static constexpr std::array<const char*, 7> names = {
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    auto weekdays = days_.weekdays;
    if (weekdays.none() && unit == "week" && start_)
      weekdays.set(static_cast<std::size_t>(weekday_of(day_of(*start_))));
    if (weekdays.none()) return every(unit);
    if (rule_.interval != 1 && unit == "day") return {};
    if (rule_.interval == 1 && weekdays == 0b0011111) return "weekdays";
    if (rule_.interval == 1 && weekdays == 0b1100000) return "weekends";
    if (weekdays.all()) return rule_.interval == 1 ? "every day" : "";
    std::vector<std::string> list;
    for (std::size_t day = 0; day < 7; ++day)
      if (weekdays[day]) list.emplace_back(names[day]);
    return rule_.interval == 1 ? "every " + joined(list) : every("week") + " on " + joined(list);
  }

  std::string on_day_of_month() const {
    if (!days_.nth.empty() || days_.month_days.count() + days_.month_days_back.count() > 4)
      return {};
    std::vector<std::string> list;
    for (std::size_t day = 1; day <= 31; ++day)
      if (days_.month_days[day]) list.push_back("day " + std::to_string(day));
    if (list.empty() && days_.month_days_back.none() && start_)
      list.push_back("day " + std::to_string(std::stoi(iso(*start_).substr(8, 2))));
    for (std::size_t day = 1; day <= 31; ++day)
      if (days_.month_days_back[day])
        list.push_back(day == 1 ? "the last day" : "day " + std::to_string(day) + " from the end");
    return list.empty() ? every("month") : every("month") + " on " + joined(list);
  }

  /// nullopt: too many words. Parts that follow from a DTSTART of now are omitted.
  std::optional<std::string> times() const {
    if (stepwise()) return step_times();
    const int start = start_ ? second_of_day(*start_) : 0;
    if (!start_ && rule_.hours.empty())
      return rule_.minutes.empty() && rule_.seconds.empty() ? std::optional<std::string>("")
                                                            : std::nullopt;
    if (!start_ && rule_.minutes.empty()) return {};
    const Times times(rule_.hours.empty() ? std::vector<int>{start / 3600} : rule_.hours,
                      rule_.minutes.empty() ? std::vector<int>{start / 60 % 60} : rule_.minutes,
                      rule_.seconds.empty() ? std::vector<int>{start % 60} : rule_.seconds);
    if (times.size() > 6) return {};
    std::vector<std::string> list;
    for (std::int64_t i = 0; i < times.size(); ++i) list.push_back(time_of_day(times.at(i)));
    return " at " + joined(list) + " " + zone_;
  }

  std::optional<std::string> step_times() const {
    if (rule_.minutes.empty() && rule_.seconds.empty()) return step_start();
    if (rule_.seconds != std::vector<int>{0}) return {};
    if (rule_.frequency == Frequency::minutely && rule_.minutes.empty()) return "";
    if (rule_.frequency != Frequency::hourly || rule_.minutes.size() > 6) return {};
    if (rule_.minutes == std::vector<int>{0}) return "";
    std::vector<std::string> list;
    for (const int minute : rule_.minutes) list.push_back(std::to_string(minute));
    return (list.size() == 1 ? " at minute " : " at minutes ") + joined(list);
  }

  /// Returns the period of a rule that has every nth minute of each hour; 0: it has other minutes.
  int period() const {
    const auto count = static_cast<int>(rule_.minutes.size());
    if (rule_.frequency != Frequency::hourly || rule_.interval != 1 || count < 2 ||
        60 % count != 0 || rule_.seconds != std::vector<int>{0})
      return 0;
    for (int i = 0; i < count; ++i)
      if (rule_.minutes[static_cast<std::size_t>(i)] != i * (60 / count)) return 0;
    return 60 / count;
  }

  std::optional<std::string> step_start() const {
    if (rule_.frequency != Frequency::hourly || !start_ || *start_ % 3600 == 0) return "";
    return " at minute " + std::to_string(second_of_day(*start_) / 60 % 60);
  }

  static std::string time_of_day(int second) {
    return iso(second).substr(11, second % 60 == 0 ? 5 : 8);
  }

  const RuleText& rule_;
  const DayFilter& days_;
  std::optional<Wall> start_;
  const std::string& zone_;
};

std::string recurrence_in_words(std::string_view text) {
  const Lines lines = read_lines(text);
  if (!lines.excluded_rules.empty() || !lines.excluded_times.empty()) return {};
  if (lines.rules.empty() && lines.times.size() == 1) return "once at " + iso(lines.times.front());
  if (lines.rules.size() != 1 || !lines.times.empty()) return {};
  return Words(lines.rules.front(), lines.start, lines.zone->name()).all();
}

}  // namespace

std::string in_words(const Schedule& schedule, std::string_view text) {
  if (std::holds_alternative<Stop>(schedule)) return "stopped";
  if (std::holds_alternative<Continue>(schedule)) return "again at once";
  if (std::holds_alternative<Now>(schedule)) return "once, now";
  if (const auto* at = std::get_if<At>(&schedule)) return "once at " + iso(at->time);
  if (std::holds_alternative<Recurrence>(schedule)) {
    try {
      if (const std::string words = recurrence_in_words(text); !words.empty()) return words;
    } catch (const ScheduleError&) {
      // The text is not that of the schedule; it is shown unchanged.
    }
  }
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::string redbike_stumbles(std::string_view text) {
  const std::string what = first_zone(text);
  if (what.empty()) return {};
  return "workers of Redbike 0.13 do not support time zones: because of " + what +
         ", they set the job to DIE or BAD";
}

}  // namespace w8y::schedule

#include "schedule/read_rule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "core/text.hpp"
#include "schedule/ical.hpp"

namespace w8y::schedule {

namespace {

using Parts = std::map<std::string_view, std::string_view>;

[[noreturn]] void refuse(std::string_view name, std::string_view value, const std::string& remedy) {
  throw ScheduleError{core::quote_start(std::string(name) + "=" + std::string(value)) +
                      " is not understood: " + remedy};
}

/// Format of a part for messages, and its range, since libical accepts numbers that no year has.
struct Numbers {
  std::string_view name;
  const char* accepts;
  int least;
  int most;
};
constexpr std::array<Numbers, 9> numbers = {{
    {"BYSECOND", "seconds are 0 to 59", 0, 59},
    {"BYMINUTE", "minutes are 0 to 59", 0, 59},
    {"BYHOUR", "hours are 0 to 23", 0, 23},
    {"BYMONTHDAY", "days of a month are 1 to 31, or -1 to -31 from its end", -31, 31},
    {"BYYEARDAY", "days of a year are 1 to 366, or -1 to -366 from its end", -366, 366},
    {"BYWEEKNO", "weeks are 1 to 53, or -1 to -53 from the year's end", -53, 53},
    {"BYMONTH", "months are 1 to 12", 1, 12},
    {"BYSETPOS", "positions are 1 to 366, or -1 to -366 from the end", -366, 366},
    {"BYDAY", "days are MO, TU, WE, TH, FR, SA, SU, or such as 1MO and -1FR", -53, 53},
}};

Parts split(std::string_view text) {
  Parts parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(';', from), text.size());
    const std::string_view part = text.substr(from, end - from);
    from = end + 1;
    const std::size_t equals = part.find('=');
    if (equals == part.npos || part.find('=', equals + 1) != part.npos)
      throw ScheduleError{core::quote_start(part) +
                          ": invalid part of a rule; write parts as NAME=VALUE, separated by "
                          "semicolons, such as FREQ=DAILY"};
    std::string_view name = part.substr(0, equals);
    if (name == "BYWEEKDAY") name = "BYDAY";
    parts[name] = part.substr(equals + 1);
  }
  return parts;
}

std::int64_t read_number(const Parts& parts, std::string_view name, std::int64_t otherwise) {
  const auto found = parts.find(name);
  if (found == parts.end()) return otherwise;
  std::string_view digits = found->second;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range && !digits.starts_with('-')) return largest_interval;
  if (error != std::errc() || end != digits.data() + digits.size() || value < 1)
    refuse(name, found->second, "it must be a whole number of at least 1");
  return std::min(value, largest_interval);
}

/// Converts MO(1), the other form of 1MO in dateutil.
std::string plain_days(std::string_view days) {
  std::string result;
  for (std::size_t from = 0; from <= days.size();) {
    const std::size_t end = std::min(days.find(',', from), days.size());
    const std::string_view day = days.substr(from, end - from);
    from = end + 1;
    if (!result.empty()) result += ',';
    if (const std::size_t open = day.find('('); open != day.npos && day.ends_with(')'))
      result += std::string(day.substr(open + 1, day.size() - open - 2)) +
                std::string(day.substr(0, open));
    else
      result += day;
  }
  return result;
}

/// Parses a part with libical: one at a time, so that a message can name a part that libical
/// refuses, and with a frequency that allows every part.
icalrecurrencetype read_part(const Numbers& part, std::string_view value) {
  const std::string text = part.name == "BYDAY" ? plain_days(value) : std::string(value);
  const auto stranger = [&](char c) {
    const bool letter = c >= 'A' && c <= 'Z' && part.name == "BYDAY";
    return !letter && (c < '0' || c > '9') && c != '+' && c != '-' && c != ',';
  };
  // libical accepts a comma at the end of some lists.
  if (text.empty() || text.ends_with(',') || std::any_of(text.begin(), text.end(), stranger))
    refuse(part.name, value, part.accepts);
  const std::string rule = "FREQ=YEARLY;" + std::string(part.name) + "=" + text;
  const icalrecurrencetype read = Ical::get().from_string(rule.c_str());
  if (read.freq == ICAL_NO_RECURRENCE) refuse(part.name, value, part.accepts);
  return read;
}

/// Returns the values in ascending order, without duplicates.
template <std::size_t Size>
std::vector<int> listed(const short (&values)[Size], const Numbers& part, std::string_view text) {
  std::vector<int> result;
  for (const short value : values) {
    if (value == ICAL_RECURRENCE_ARRAY_MAX) break;
    if (value < part.least || value > part.most || (value == 0 && part.least != 0))
      refuse(part.name, text, part.accepts);
    result.push_back(value);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// Sets the bits of the values. Numbers from the end have a separate set.
template <std::size_t Size>
void set_in(const std::vector<int>& values, std::bitset<Size>& ahead, std::bitset<Size>& back) {
  for (const int value : values) {
    if (value > 0)
      ahead.set(static_cast<std::size_t>(value));
    else
      back.set(static_cast<std::size_t>(-value));
  }
}

void set_weekdays(const icalrecurrencetype& read, const Numbers& part, std::string_view text,
                  DayFilter& days) {
  // libical reads 0MO as MO; dateutil refuses it, since there is no Monday with number 0.
  for (std::size_t at = text.find('0'); at != text.npos; at = text.find('0', at + 1))
    if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9') refuse(part.name, text, part.accepts);
  for (const short day : read.by_day) {
    if (day == ICAL_RECURRENCE_ARRAY_MAX) break;
    const int n = Ical::get().day_position(day);
    const int weekday = (Ical::get().day_of_week(day) + 5) % 7;
    if (n < part.least || n > part.most) refuse(part.name, text, part.accepts);
    if (n == 0)
      days.weekdays.set(static_cast<std::size_t>(weekday));
    else
      days.nth.emplace_back(weekday, n);
  }
}

void apply(const Numbers& part, std::string_view text, RuleText& rule) {
  const icalrecurrencetype read = read_part(part, text);
  DayFilter& days = rule.days;
  if (part.name == "BYSECOND") rule.seconds = listed(read.by_second, part, text);
  if (part.name == "BYMINUTE") rule.minutes = listed(read.by_minute, part, text);
  if (part.name == "BYHOUR") rule.hours = listed(read.by_hour, part, text);
  if (part.name == "BYSETPOS") rule.positions = listed(read.by_set_pos, part, text);
  if (part.name == "BYDAY") set_weekdays(read, part, text, days);
  if (part.name == "BYMONTH")
    for (const int month : listed(read.by_month, part, text))
      days.months.set(static_cast<std::size_t>(month));
  if (part.name == "BYMONTHDAY")
    set_in(listed(read.by_month_day, part, text), days.month_days, days.month_days_back);
  if (part.name == "BYYEARDAY")
    set_in(listed(read.by_year_day, part, text), days.year_days, days.year_days_back);
  if (part.name == "BYWEEKNO")
    set_in(listed(read.by_week_no, part, text), days.weeks, days.weeks_back);
}

Frequency read_frequency(const Parts& parts) {
  static const std::map<std::string_view, Frequency> known = {
      {"YEARLY", Frequency::yearly},     {"MONTHLY", Frequency::monthly},
      {"WEEKLY", Frequency::weekly},     {"DAILY", Frequency::daily},
      {"HOURLY", Frequency::hourly},     {"MINUTELY", Frequency::minutely},
      {"SECONDLY", Frequency::secondly},
  };
  const auto part = parts.find("FREQ");
  if (part == parts.end()) throw ScheduleError{"a rule needs FREQ, such as FREQ=DAILY"};
  const auto found = known.find(part->second);
  if (found == known.end())
    refuse("FREQ", part->second,
           "it must be YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY or SECONDLY");
  return found->second;
}

int read_week_start(const Parts& parts) {
  const auto part = parts.find("WKST");
  if (part == parts.end()) return 0;
  static constexpr std::array<std::string_view, 7> names = {"MO", "TU", "WE", "TH",
                                                            "FR", "SA", "SU"};
  const auto* const found = std::find(names.begin(), names.end(), part->second);
  if (found == names.end()) refuse("WKST", part->second, "it must be a day such as MO");
  return static_cast<int>(found - names.begin());
}

void refuse_strangers(const Parts& parts) {
  static constexpr std::array<std::string_view, 5> others = {"FREQ", "INTERVAL", "COUNT", "UNTIL",
                                                             "WKST"};
  for (const auto& [name, value] : parts) {
    const auto same = [name = name](const auto& part) { return part == name; };
    if (name == "BYEASTER") refuse(name, value, "Easter is not supported; list the days in RDATE");
    if (std::none_of(others.begin(), others.end(), same) &&
        std::none_of(numbers.begin(), numbers.end(),
                     [&](const Numbers& part) { return same(part.name); }))
      refuse(name, value, "rules have no such part");
  }
}

}  // namespace

RuleText read_rule(std::string_view text, const std::function<Wall(TimeText)>& until) {
  const Parts parts = split(text);
  refuse_strangers(parts);
  RuleText rule;
  rule.frequency = read_frequency(parts);
  rule.interval = read_number(parts, "INTERVAL", 1);
  rule.days.week_start = read_week_start(parts);
  if (parts.contains("COUNT")) rule.count = read_number(parts, "COUNT", 1);
  if (const auto found = parts.find("UNTIL"); found != parts.end())
    rule.until = until(read_time(found->second));
  for (const Numbers& part : numbers)
    if (const auto found = parts.find(part.name); found != parts.end())
      apply(part, found->second, rule);
  return rule;
}

}  // namespace w8y::schedule

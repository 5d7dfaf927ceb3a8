#include "schedule/read_time.hpp"

#include "core/text.hpp"

namespace w8y::schedule {

namespace {

class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool read(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return {};
    int value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return {};
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  /// Skips `.25`, with any number of digits.
  bool fraction() {
    if (!read('.') && !read(',')) return true;
    if (!digits(1)) return false;
    while (digits(1)) continue;
    return true;
  }

 private:
  std::string_view rest_;
};

/// Reads a date; nullopt if it is not one.
std::optional<Day> read_date(TimeReader& text) {
  const auto year = text.digits(4);
  const bool extended = text.read('-');
  const auto month = text.digits(2);
  if (extended && !text.read('-')) return {};
  const auto day = text.digits(2);
  if (!year || !month || !day || *year < first_year) return {};
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return {};
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::optional<Wall> read_time_of_day(TimeReader& text) {
  const auto hour = text.digits(2);
  const bool extended = text.read(':');
  const auto minute = text.digits(2);
  if (!hour || !minute || *hour > 23 || *minute > 59) return {};
  const Wall whole = *hour * 3600 + *minute * 60;
  if (extended && !text.read(':')) return whole;
  const auto second = text.digits(2);
  if (!second) return extended ? std::nullopt : std::optional<Wall>(whole);
  if (*second > 59 || !text.fraction()) return {};
  return whole + *second;
}

}  // namespace

TimeText read_time(std::string_view text) {
  TimeReader reader(text);
  const ScheduleError wrong{core::quote_start(text) +
                            " is not a time; write it as 20261121T130000 or 2026-11-21T13:00:00"};
  const auto day = read_date(reader);
  if (!day) throw wrong;
  TimeText result{*day * day_length, false};
  if (reader.empty()) return result;
  if (!reader.read('T')) throw wrong;
  const auto time = read_time_of_day(reader);
  if (!time) throw wrong;
  result.wall += *time;
  result.utc = reader.read('Z');
  if (reader.read('+') || reader.read('-'))
    throw ScheduleError{core::quote_start(text) +
                        " has an offset; write the zone as TZID, or the time in UTC with Z"};
  if (!reader.empty()) throw wrong;
  return result;
}

OffsetTime read_offset_time(std::string_view text) {
  const std::size_t day_end = text.find('T');
  const std::size_t sign = day_end == text.npos ? text.npos : text.find_first_of("+-", day_end);
  if (sign == text.npos) {
    const TimeText time = read_time(text);
    return {time.wall, time.utc ? std::optional<int>(0) : std::nullopt};
  }
  TimeReader offset(text.substr(sign + 1));
  const TimeText time = read_time(text.substr(0, sign));
  const auto hours = offset.digits(2);
  const bool extended = offset.read(':');
  const auto minutes = !extended && offset.empty() ? std::optional<int>(0) : offset.digits(2);
  if (time.utc || !hours || !minutes || *hours > 23 || *minutes > 59 || !offset.empty())
    throw ScheduleError{core::quote_start(text) +
                        " has no valid offset; write it as +01:00 or -03:30, or Z for UTC"};
  const int east = *hours * 3600 + *minutes * 60;
  return {time.wall, text[sign] == '-' ? -east : east};
}

}  // namespace w8y::schedule

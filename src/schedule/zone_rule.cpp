#include "schedule/zone_rule.hpp"

namespace w8y::schedule {

namespace {

class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool read(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Reads CET, or <+0530>.
  bool name() {
    const bool quoted = read('<');
    std::size_t length = 0;
    while (length < rest_.size() &&
           (quoted ? rest_[length] != '>'
                   : (rest_[length] | 0x20) >= 'a' && (rest_[length] | 0x20) <= 'z'))
      ++length;
    rest_.remove_prefix(length);
    return length > 0 && (!quoted || read('>'));
  }
  std::optional<int> number(int most) {
    int value = 0;
    std::size_t length = 0;
    for (; length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9'; ++length) {
      value = value * 10 + (rest_[length] - '0');
      if (value > most) return {};
    }
    rest_.remove_prefix(length);
    return length == 0 ? std::nullopt : std::optional<int>(value);
  }
  /// Reads [+-]h[:mm[:ss]].
  std::optional<int> time() {
    const int sign = read('-') ? -1 : 1;
    if (sign > 0) read('+');
    const auto hours = number(167);
    if (!hours) return {};
    int seconds = *hours * 3600;
    for (const int unit : {60, 1}) {
      if (!read(':')) break;
      const auto part = number(59);
      if (!part) return {};
      seconds += *part * unit;
    }
    return sign * seconds;
  }
  bool change(ZoneRule::Change& to) {
    if (!read(',')) return false;
    bool good = false;
    if (read('M')) {
      const auto month = number(12);
      const auto week = read('.') ? number(5) : std::nullopt;
      const auto day = read('.') ? number(6) : std::nullopt;
      to = {ZoneRule::Change::Kind::weekday, month.value_or(0), week.value_or(0), day.value_or(0),
            7200};
      good = to.month > 0 && to.week > 0 && day.has_value();
    } else {
      to.kind = read('J') ? ZoneRule::Change::Kind::julian : ZoneRule::Change::Kind::day;
      const auto day = number(365);
      to.day = day.value_or(0);
      good = day.has_value();
    }
    if (!good || !read('/')) return good;
    const auto at = time();
    to.time = at.value_or(0);
    return at.has_value();
  }

 private:
  std::string_view rest_;
};

}  // namespace

Wall ZoneRule::Change::in(int year) const {
  Day on = day_from(year, 1, 1);
  if (kind == Kind::day) {
    on += day;
  } else if (kind == Kind::julian) {
    on += day - 1 + (is_leap(year) && day > 59 ? 1 : 0);
  } else {
    const Day first = day_from(year, static_cast<unsigned>(month), 1);
    const Day end = month == 12 ? day_from(year + 1, 1, 1)
                                : day_from(year, static_cast<unsigned>(month) + 1, 1);
    on = first + (day + 6 - weekday_of(first) + 7) % 7 + (week - 1) * 7;
    while (on >= end) on -= 7;
  }
  return on * day_length + time;
}

int ZoneRule::offset_at(std::int64_t unix_seconds) const {
  if (!summer) return standard;
  const int year = year_of(day_of(unix_seconds + standard));
  const std::int64_t forward = to_summer.in(year)-standard;
  const std::int64_t back = to_standard.in(year) - *summer;
  // In the southern hemisphere, summer is at both ends of the year.
  const bool in_summer = forward < back ? unix_seconds >= forward && unix_seconds < back
                                        : unix_seconds >= forward || unix_seconds < back;
  return in_summer ? *summer : standard;
}

std::optional<ZoneRule> read_zone_rule(std::string_view text) {
  FieldReader reader(text);
  ZoneRule rule;
  if (!reader.name()) return {};
  const auto west = reader.time();
  if (!west) return {};
  rule.standard = -*west;
  if (reader.empty()) return rule;
  if (!reader.name()) return {};
  rule.summer = rule.standard + 3600;
  if (const auto summer_west = reader.time()) rule.summer = -*summer_west;
  if (!reader.change(rule.to_summer) || !reader.change(rule.to_standard) || !reader.empty())
    return {};
  return rule;
}

}  // namespace w8y::schedule

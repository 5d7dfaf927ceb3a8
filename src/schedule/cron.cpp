#include "schedule/cron.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "core/ascii.hpp"
#include "core/text.hpp"
#include "schedule/read_time.hpp"

namespace w8y::schedule {

namespace {

constexpr std::string_view cron_blanks = " \t\n\v\f\r";

/// Part of the expression between blanks.
struct CronWord {
  std::string_view text;
  std::size_t at = 0;  ///< character of the expression, from 1
};

std::vector<CronWord> words_in(std::string_view text) {
  std::vector<CronWord> words;
  for (std::size_t from = text.find_first_not_of(cron_blanks); from < text.size();) {
    const std::size_t end = std::min(text.find_first_of(cron_blanks, from), text.size());
    words.push_back({text.substr(from, end - from), from + 1});
    from = text.find_first_not_of(cron_blanks, end);
  }
  return words;
}

constexpr std::array<std::string_view, 12> month_names = {"jan", "feb", "mar", "apr", "may", "jun",
                                                          "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> day_names = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};
/// Days of BYDAY in the order of a rule, and their numbers in cron.
constexpr std::array<std::pair<std::string_view, int>, 7> rule_days = {
    {{"MO", 1}, {"TU", 2}, {"WE", 3}, {"TH", 4}, {"FR", 5}, {"SA", 6}, {"SU", 0}}};

struct CronField {
  const char* name;
  const char* accepts;
  int least;
  int most;
  std::span<const std::string_view> names = {};  ///< of the numbers from `least` on
};
constexpr CronField minute_field = {"minute", "minutes are 0 to 59", 0, 59};
constexpr CronField hour_field = {"hour", "hours are 0 to 23", 0, 23};
constexpr CronField day_field = {"day of month", "days of a month are 1 to 31", 1, 31};
constexpr CronField month_field = {"month", "months are 1 to 12, or jan to dec", 1, 12,
                                   month_names};
constexpr CronField weekday_field = {
    "day of week", "days of a week are 0 to 7 (0 and 7 are Sunday), or sun to sat", 0, 7,
    day_names};
constexpr std::size_t field_count = 5;

using Numbers60 = std::bitset<60>;

/// Values of a field. Sunday is 0.
struct CronValues {
  bool all = false;  ///< the field is `*` or `*/1`
  Numbers60 numbers;
};

/// Reads one field: a list of values, ranges and steps.
class CronFieldReader {
 public:
  CronFieldReader(const CronField& field, CronWord word) : field_(field), word_(word) {}

  CronValues read() {
    CronValues values;
    do {
      item_ = at_;
      read_item(values);
    } while (skip(','));
    if (at_ < word_.text.size())
      refuse(at_, "invalid character; a field has numbers, names, \"*\", \"-\", \"/\" and \",\"");
    if (&field_ == &weekday_field && values.numbers[7]) {
      values.numbers.set(0);
      values.numbers.reset(7);
    }
    return values;
  }

 private:
  void read_item(CronValues& values) {
    int first = field_.least, last = &field_ == &weekday_field ? 6 : field_.most;
    const bool star = skip('*');
    bool range = star;
    if (!star) {
      first = last = read_value();
      if (skip('-')) {
        const std::size_t from = at_;
        last = read_value();
        // As the end of a range, Sunday is the day after Saturday.
        if (&field_ == &weekday_field && last == 0 && first > 0) last = 7;
        if (last < first)
          refuse(from,
                 "the range ends before it starts; write it as two ranges, such as 22-23,0-5");
        range = true;
      }
    }
    int step = 1;
    if (skip('/')) {
      const std::size_t from = at_;
      const auto number = read_number();
      if (!number || *number < 1 || *number > field_.most)
        refuse(from, "a step is 1 to " + std::to_string(field_.most));
      if (!range)
        refuse(item_, "a step needs a range, such as " + std::to_string(first) + "-" +
                          std::to_string(field_.most) + "/" + std::to_string(*number));
      step = *number;
    }
    if (star && step == 1) values.all = true;
    for (int value = first; value <= last; value += step)
      values.numbers.set(static_cast<std::size_t>(value));
  }

  int read_value() {
    const std::size_t from = at_;
    if (const auto number = read_number()) {
      if (*number < field_.least || *number > field_.most) refuse(from, field_.accepts);
      return *number;
    }
    const std::string name = core::lower(word_.text.substr(from, 3));
    const auto found = std::find(field_.names.begin(), field_.names.end(), name);
    if (found == field_.names.end()) refuse(from, field_.accepts);
    at_ += 3;
    return field_.least + static_cast<int>(found - field_.names.begin());
  }

  /// nullopt: there are no digits. A number that is too large for a field is 1000.
  std::optional<int> read_number() {
    const std::string_view rest = word_.text.substr(at_);
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc::invalid_argument || rest.starts_with('-')) return {};
    at_ += static_cast<std::size_t>(end - rest.data());
    return error == std::errc{} ? std::min(number, 1000) : 1000;
  }

  bool skip(char c) {
    if (!word_.text.substr(at_).starts_with(c)) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void refuse(std::size_t at, const std::string& why) const {
    const std::string_view rest = word_.text.substr(at);
    const std::string_view part = rest.substr(0, rest.find_first_of(",-/", 1));
    const std::string place = " at character " + std::to_string(word_.at + at);
    throw ScheduleError{"the " + std::string(field_.name) + " " + core::quote_start(word_.text) +
                        " has " + (part.empty() ? "no value" : core::quote_start(part)) + place +
                        ": " + why};
  }

  const CronField& field_;
  const CronWord word_;
  std::size_t at_ = 0;    ///< next character of the field, from 0
  std::size_t item_ = 0;  ///< first character of the current item
};

/// Appends `;NAME=1,2,3`, unless the field has all values.
void add_part(std::string& rule, const char* name, const CronValues& values) {
  if (values.all) return;
  std::string list;
  for (std::size_t number = 0; number < values.numbers.size(); ++number)
    if (values.numbers[number]) list += (list.empty() ? "" : ",") + std::to_string(number);
  rule += ";" + std::string(name) + "=" + list;
}

void add_weekdays(std::string& rule, const CronValues& weekdays) {
  if (weekdays.all) return;
  std::string list;
  for (const auto& [name, number] : rule_days)
    if (weekdays.numbers[static_cast<std::size_t>(number)])
      list += (list.empty() ? "" : ",") + std::string(name);
  rule += ";BYDAY=" + list;
}

std::string rule_of_fields(const std::vector<CronWord>& words) {
  const CronValues minutes = CronFieldReader(minute_field, words[0]).read();
  const CronValues hours = CronFieldReader(hour_field, words[1]).read();
  const CronValues days = CronFieldReader(day_field, words[2]).read();
  const CronValues months = CronFieldReader(month_field, words[3]).read();
  const CronValues weekdays = CronFieldReader(weekday_field, words[4]).read();
  if (!days.all && !weekdays.all)
    throw ScheduleError{"it has both a day of month " + core::quote_start(words[2].text) +
                        " and a day of week " + core::quote_start(words[4].text) +
                        ": cron runs on days that match either field, and no single RRULE has the "
                        "same times; set two jobs, each with \"*\" in one field"};
  // The frequency is the longest period whose parts the rule names, so that DTSTART adds no part.
  std::string rule = "RRULE:FREQ=";
  if (minutes.all)
    rule += "MINUTELY";
  else if (hours.all)
    rule += "HOURLY";
  else if (!weekdays.all)
    rule += "WEEKLY";
  else if (!days.all)
    rule += months.all ? "MONTHLY" : "YEARLY";
  else
    rule += "DAILY";
  add_part(rule, "BYMONTH", months);
  add_part(rule, "BYMONTHDAY", days);
  add_weekdays(rule, weekdays);
  add_part(rule, "BYHOUR", hours);
  add_part(rule, "BYMINUTE", minutes);
  return rule + ";BYSECOND=0";
}

std::string_view fields_of_name(const CronWord& word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names = {
      {{"@yearly", "0 0 1 1 *"},
       {"@annually", "0 0 1 1 *"},
       {"@monthly", "0 0 1 * *"},
       {"@weekly", "0 0 * * 0"},
       {"@daily", "0 0 * * *"},
       {"@midnight", "0 0 * * *"},
       {"@hourly", "0 * * * *"}}};
  const std::string name = core::lower(word.text);
  if (name == "@reboot")
    throw ScheduleError{
        "\"@reboot\" at character " + std::to_string(word.at) +
        ": a schedule cannot run a job at the start of a host; use a systemd unit, or NOW"};
  for (const auto& [known, fields] : names)
    if (name == known) return fields;
  throw ScheduleError{core::quote_start(word.text) + " at character " + std::to_string(word.at) +
                      ": unknown name of cron; use @hourly, @daily, @midnight, @weekly, "
                      "@monthly, @yearly or @annually"};
}

}  // namespace

bool looks_like_cron(std::string_view text) {
  const std::size_t from = std::min(text.find_first_not_of(cron_blanks), text.size());
  text.remove_prefix(from);
  if (text.starts_with('@') || text.starts_with('*')) return true;
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_of(cron_blanks) != text.npos;
}

std::string rule_of_cron(std::string_view text) {
  const std::vector<CronWord> words = words_in(text);
  if (words.empty()) throw ScheduleError{"a cron expression has five fields, and this has none"};
  const bool named = words.front().text.starts_with('@');
  if (named && words.size() == 1) return rule_of_fields(words_in(fields_of_name(words.front())));
  if (!named && words.size() == field_count) return rule_of_fields(words);
  const CronWord& last = words.back();
  const std::size_t extra = named ? 1 : field_count;
  if (words.size() <= extra)
    throw ScheduleError{
        "a cron expression has five fields (minute, hour, day of month, month, day of week), and "
        "this has " +
        std::to_string(words.size()) + ", up to character " +
        std::to_string(last.at + last.text.size() - 1)};
  const CronWord& first = words[extra];
  throw ScheduleError{core::quote_start(first.text) + " at character " + std::to_string(first.at) +
                      (named ? ": no field may follow a name such as @daily"
                             : " is a sixth field: a cron expression has minute, hour, day of "
                               "month, month and day of week, without seconds, user and command")};
}

}  // namespace w8y::schedule

#include "schedule/cron.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bitset>
#include <cstdlib>
#include <ctime>
#include <set>
#include <sstream>

#include "schedule/read_time.hpp"
#include "schedule_support.hpp"

using namespace w8y::schedule;

namespace {

/// The rule of an expression, without "RRULE:" and ";BYSECOND=0"; or the reason of its error.
std::string rule(const std::string& cron) {
  try {
    const std::string text = rule_of_cron(cron);
    const std::string_view start = "RRULE:", end = ";BYSECOND=0";
    REQUIRE(text.starts_with(start));
    REQUIRE(text.ends_with(end));
    return text.substr(start.size(), text.size() - start.size() - end.size());
  } catch (const ScheduleError& error) {
    return error.why;
  }
}

/// Numbers of a field, read in the simplest way: names are not supported.
std::bitset<64> numbers_of(const std::string& field, int least, int most) {
  std::bitset<64> numbers;
  std::istringstream items(field);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t slash = item.find('/');
    const int step = slash == item.npos ? 1 : std::stoi(item.substr(slash + 1));
    const std::string range = item.substr(0, slash);
    const std::size_t minus = range.find('-');
    const int first = range == "*" ? least : std::stoi(range);
    const int last = range == "*"          ? most
                     : minus == range.npos ? first
                                           : std::stoi(range.substr(minus + 1));
    for (int number = first; number <= last; number += step)
      numbers.set(static_cast<std::size_t>(number));
  }
  return numbers;
}

/// Cron expression that is compared with the fields of each minute.
class Matcher {
 public:
  explicit Matcher(const std::string& cron) {
    std::istringstream words(cron);
    std::array<std::string, 5> fields;
    for (std::string& field : fields) words >> field;
    minutes_ = numbers_of(fields[0], 0, 59);
    hours_ = numbers_of(fields[1], 0, 23);
    days_ = numbers_of(fields[2], 1, 31);
    months_ = numbers_of(fields[3], 1, 12);
    weekdays_ = numbers_of(fields[4], 0, 6);
    if (weekdays_[7]) weekdays_.set(0);
  }
  bool matches(const tm& time) const {
    return has(minutes_, time.tm_min) && has(hours_, time.tm_hour) && has(days_, time.tm_mday) &&
           has(months_, time.tm_mon + 1) && has(weekdays_, time.tm_wday);
  }

 private:
  static bool has(const std::bitset<64>& numbers, int number) {
    return numbers[static_cast<std::size_t>(number)];
  }

  std::bitset<64> minutes_, hours_, days_, months_, weekdays_;
};

struct Minute {
  UnixSeconds at = 0;
  tm wall{};
};

constexpr UnixSeconds year_start = 1798761600;  ///< 2027-01-01T00:00:00Z
constexpr UnixSeconds year_end = 1830297600;    ///< 2028-01-01T00:00:00Z

/// Each minute that clocks of the zone show in 2027, by the C library. A minute that is shown twice
/// occurs once, at its first time. A minute that clocks skip occurs at the time that it has by the
/// offset after the change.
std::vector<Minute> minutes_of_year(const char* zone) {
  setenv("TZ", zone, 1);
  tzset();
  std::vector<Minute> minutes;
  UnixSeconds next_wall = 0;
  for (UnixSeconds at = year_start; at < year_end; at += 60) {
    const std::time_t time = at;
    tm wall{};
    localtime_r(&time, &wall);
    const UnixSeconds shown = at + wall.tm_gmtoff;
    for (UnixSeconds skipped = next_wall; next_wall > 0 && skipped < shown; skipped += 60) {
      const std::time_t as_utc = skipped;
      tm fields{};
      gmtime_r(&as_utc, &fields);
      minutes.push_back({skipped - wall.tm_gmtoff, fields});
    }
    if (shown >= next_wall) minutes.push_back({at, wall});
    next_wall = std::max(next_wall, shown + 60);
  }
  unsetenv("TZ");
  tzset();
  return minutes;
}

/// In the order of the clock. A skipped minute is omitted if a later time is in the result already.
std::set<UnixSeconds> matched(const std::string& cron, const std::vector<Minute>& minutes) {
  const Matcher matcher(cron);
  std::set<UnixSeconds> times;
  for (const Minute& minute : minutes)
    if (matcher.matches(minute.wall) && (times.empty() || minute.at > *times.rbegin()))
      times.insert(minute.at);
  return times;
}

std::set<UnixSeconds> computed(const std::string& cron, const char* zone) {
  const Typed typed = as_stored(cron, zone);
  REQUIRE(typed.zone_error == "");
  const Schedule schedule = parse_schedule(typed.schedule, year_start);
  REQUIRE(std::holds_alternative<Recurrence>(schedule));
  const auto& recurrence = std::get<Recurrence>(schedule);
  std::set<UnixSeconds> times;
  for (auto at = recurrence.next_after(year_start - 1); at && *at < year_end;
       at = recurrence.next_after(*at))
    times.insert(*at);
  return times;
}

}  // namespace

TEST_CASE("cron: each frequency has its rule") {
  CHECK(rule_of_cron("0 3 * * *") == "RRULE:FREQ=DAILY;BYHOUR=3;BYMINUTE=0;BYSECOND=0");
  CHECK(rule("* * * * *") == "FREQ=MINUTELY");
  CHECK(rule("*/1 */1 */1 */1 */1") == "FREQ=MINUTELY");
  CHECK(rule("* 3 * * *") == "FREQ=MINUTELY;BYHOUR=3");
  CHECK(rule("0 * * * *") == "FREQ=HOURLY;BYMINUTE=0");
  CHECK(rule("0 * * * 1") == "FREQ=HOURLY;BYDAY=MO;BYMINUTE=0");
  CHECK(rule("0 9 * * 1-5") == "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0");
  CHECK(rule("0 9 * 6 1") == "FREQ=WEEKLY;BYMONTH=6;BYDAY=MO;BYHOUR=9;BYMINUTE=0");
  CHECK(rule("0 9 1,15 * *") == "FREQ=MONTHLY;BYMONTHDAY=1,15;BYHOUR=9;BYMINUTE=0");
  CHECK(rule("0 9 24 12 *") == "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24;BYHOUR=9;BYMINUTE=0");
  CHECK(rule("0 9 * 12 *") == "FREQ=DAILY;BYMONTH=12;BYHOUR=9;BYMINUTE=0");
}

TEST_CASE("cron: lists, ranges, steps and names have their numbers") {
  CHECK(rule("5,1,3,1 * * * *") == "FREQ=HOURLY;BYMINUTE=1,3,5");
  CHECK(rule("*/20 * * * *") == "FREQ=HOURLY;BYMINUTE=0,20,40");
  CHECK(rule("5-59/20 * * * *") == "FREQ=HOURLY;BYMINUTE=5,25,45");
  CHECK(rule("0-4,30-40/5,59 * * * *") == "FREQ=HOURLY;BYMINUTE=0,1,2,3,4,30,35,40,59");
  CHECK(rule("00 08-10 * * *") == "FREQ=DAILY;BYHOUR=8,9,10;BYMINUTE=0");
  CHECK(rule("0 0 1 jan,JUL-Sep *") ==
        "FREQ=YEARLY;BYMONTH=1,7,8,9;BYMONTHDAY=1;BYHOUR=0;BYMINUTE=0");
  CHECK(rule("0 0 * * mon-fri/2") == "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYHOUR=0;BYMINUTE=0");
  CHECK(rule(" \t0  3\t* * *\n") == "FREQ=DAILY;BYHOUR=3;BYMINUTE=0");
  CHECK(rule("*/45 * * * *") == "FREQ=HOURLY;BYMINUTE=0,45");
  CHECK(rule("0 0 * * */2") == "FREQ=WEEKLY;BYDAY=TU,TH,SA,SU;BYHOUR=0;BYMINUTE=0");
  CHECK(rule("5-5 * * * *") == "FREQ=HOURLY;BYMINUTE=5");
}

TEST_CASE("cron: 0, 7 and sun are Sunday, also as the end of a range") {
  for (const char* sunday : {"0", "7", "sun", "SUN", "0,7", "7-7"}) {
    CAPTURE(sunday);
    CHECK(rule("0 0 * * " + std::string(sunday)) == "FREQ=WEEKLY;BYDAY=SU;BYHOUR=0;BYMINUTE=0");
  }
  for (const char* weekend : {"6-7", "sat-sun", "6-0", "0,6", "sat,sun"}) {
    CAPTURE(weekend);
    CHECK(rule("0 0 * * " + std::string(weekend)) == "FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=0;BYMINUTE=0");
  }
  CHECK(rule("0 0 * * sun-tue") == "FREQ=WEEKLY;BYDAY=MO,TU,SU;BYHOUR=0;BYMINUTE=0");
  CHECK(rule("0 0 * * 0-7") == "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0;BYMINUTE=0");
}

TEST_CASE("cron: names of expressions have the rules of their fields") {
  CHECK(rule("@hourly") == rule("0 * * * *"));
  CHECK(rule("@daily") == rule("0 0 * * *"));
  CHECK(rule("@Midnight") == rule("0 0 * * *"));
  CHECK(rule("@weekly") == rule("0 0 * * 0"));
  CHECK(rule("@monthly") == rule("0 0 1 * *"));
  CHECK(rule("@yearly") == rule("0 0 1 1 *"));
  CHECK(rule(" @annually ") == rule("0 0 1 1 *"));
}

TEST_CASE("cron: day of month and day of week together are refused") {
  for (const char* cron : {"0 0 1 * 1", "0 0 */2 * mon", "0 0 1-31 * 1", "0 0 13 * 0-6"}) {
    CAPTURE(cron);
    CHECK(rule(cron).find("no single RRULE has the same times") != std::string::npos);
    CHECK(rule(cron).find("set two jobs") != std::string::npos);
  }
}

TEST_CASE("cron: an error names the field, the part, its character and the remedy") {
  const std::vector<std::array<std::string, 2>> errors = {
      {"60 * * * *", "the minute \"60\" has \"60\" at character 1: minutes are 0 to 59"},
      {"0 24 * * *", "the hour \"24\" has \"24\" at character 3: hours are 0 to 23"},
      {"0 1,2,25-26 * * *", "has \"25\" at character 7: hours are 0 to 23"},
      {"0 0 0 * *", "the day of month \"0\" has \"0\" at character 5: days of a month are 1 to 31"},
      {"0 0 32 * *", "days of a month are 1 to 31"},
      {"0 0 * 13 *", "the month \"13\" has \"13\" at character 7: months are 1 to 12"},
      {"0 0 * 0 *", "months are 1 to 12"},
      {"0 0 * foo *", "the month \"foo\" has \"foo\" at character 7: months are 1 to 12"},
      {"0 0 * monday *", "has \"monday\" at character 7"},
      {"0 0 * * 8", "the day of week \"8\" has \"8\" at character 9: days of a week are 0 to 7"},
      {"0 0 * * monday", "has \"day\" at character 12: invalid character"},
      {"0 0 * * 5#3", "has \"#3\" at character 10"},
      {"0 0 L * *", "has \"L\" at character 5"},
      {"0 0 15W * *", "has \"W\" at character 7"},
      {"0 0 ? * 1", "has \"?\" at character 5"},
      {"0 22-5 * * *", "has \"5\" at character 6: the range ends before it starts"},
      {"0 0 * * fri-mon", "has \"mon\" at character 13: the range ends before it starts"},
      {"5/10 * * * *", "has \"5\" at character 1: a step needs a range, such as 5-59/10"},
      {"*/0 * * * *", "has \"0\" at character 3: a step is 1 to 59"},
      {"*/ * * * *", "has no value at character 3: a step is 1 to 59"},
      {"*/60 * * * *", "a step is 1 to 59"},
      {"*/99999999999 * * * *", "has \"99999999999\" at character 3"},
      {"99999999999 * * * *", "minutes are 0 to 59"},
      {"1, * * * *", "has no value at character 3"},
      {",1 * * * *", "at character 1"},
      {"1- * * * *", "has no value at character 3"},
      {"-1 * * * *", "at character 1: minutes are 0 to 59"},
      {"** * * * *", "has \"*\" at character 2"},
      {"*-5 * * * *", "has \"-5\" at character 2"},
      {"+5 * * * *", "at character 1"},
      {"1--5 * * * *", "at character 3"},
      {"0 3 * *",
       "has five fields (minute, hour, day of month, month, day of week), and this has 4"},
      {"0 3 * *", "up to character 7"},
      {"*", "this has 1"},
      {"0 0 3 * * *", "\"*\" at character 11 is a sixth field"},
      {"0 3 * * * root /bin/backup", "\"root\" at character 11 is a sixth field"},
      {"@daily x", "\"x\" at character 8: no field may follow"},
      {"@dayly", "\"@dayly\" at character 1: unknown name of cron; use @hourly, @daily"},
      {"@reboot", "\"@reboot\" at character 1: a schedule cannot run a job at the start of a host"},
      {"@", "unknown name of cron"},
  };
  for (const auto& error : errors) {
    const std::string& cron = error[0];
    const std::string& reason = error[1];
    CAPTURE(cron);
    CAPTURE(rule(cron));
    CHECK(rule(cron).find(reason) != std::string::npos);
    if (looks_like_cron(cron)) CHECK_BAD(cron, reason);
  }
}

TEST_CASE("cron: no other schedule looks like an expression") {
  for (const char* text : {"STOP", "NOW", "AT:5", "FREQ=DAILY", "RRULE:FREQ=DAILY DTSTART:20260101",
                           "20261121T130000", "5", "", " "})
    CHECK_FALSE(looks_like_cron(text));
  for (const char* text : {"* * * * *", " 0 3", "@daily", "*/5", "0 3 * * * /bin/true"})
    CHECK(looks_like_cron(text));
}

TEST_CASE("cron: a stored expression is invalid and the reason has its rule") {
  CHECK_BAD("0 3 * * *", "which is RRULE:FREQ=DAILY;BYHOUR=3;BYMINUTE=0;BYSECOND=0");
}

TEST_CASE("cron: a typed expression is stored as a rule, with its zone") {
  CHECK(as_stored("0 3 * * *", "").schedule == "RRULE:FREQ=DAILY;BYHOUR=3;BYMINUTE=0;BYSECOND=0");
  CHECK(as_stored("0 3 * * *", "UTC").schedule == as_stored("0 3 * * *", "").schedule);
  const Typed berlin = as_stored("0 3 * * *", "Europe/Berlin");
  CHECK(berlin.schedule ==
        "DTSTART;TZID=Europe/Berlin:20000101T000000\n"
        "RRULE:FREQ=DAILY;BYHOUR=3;BYMINUTE=0;BYSECOND=0");
  CHECK(berlin.zone_error == "");
  CHECK(times(berlin.schedule, 2) ==
        std::vector<std::string>{"2026-11-22T03:00:00+01:00", "2026-11-23T03:00:00+01:00"});
  CHECK(redbike_stumbles(berlin.schedule) != "");
  CHECK(redbike_stumbles(as_stored("0 3 * * *", "").schedule) == "");
  // An invalid expression is unchanged: parse_schedule() has the reason.
  CHECK(as_stored("0 25 * * *", "Europe/Berlin").schedule == "0 25 * * *");
}

TEST_CASE("cron: other schedules are stored as typed, and accept no zone") {
  for (const char* text : {"NOW", "STOP", "AT:5", "rrule:freq=daily", "FREQ=DAILY\r\n", "nonsense",
                           "AT:2026-11-21T14:00:00Z"}) {
    CAPTURE(text);
    CHECK(as_stored(text, "").schedule == text);
    CHECK(as_stored(text, "").zone_error == "");
    CHECK(as_stored(text, "Europe/Berlin").zone_error != "");
  }
  CHECK(as_stored("0 3 * * *", "Europe/Bärlin").zone_error.find("no such zone") !=
        std::string::npos);
}

TEST_CASE("cron: rules that never fire are invalid") {
  CHECK_BAD(rule_of_cron("0 0 31 2 *"), "never fires");
  CHECK(next(rule_of_cron("0 0 29 2 *")) == 1835395200);  // 2028-02-29
  CHECK(next(rule_of_cron("* * 29 2 *")) == 1835395200);
}

TEST_CASE("cron: rules have the times of a matcher in each minute of a year, also on DST days") {
  const std::vector<std::string> expressions = {
      "0 3 * * *",          "30 2 * * *",         "15 2,3 * * *",   "0 * * * *",
      "*/15 * * * *",       "*/7 1-3 * * *",      "59 23 * * *",    "0 0 * * 0",
      "0 0 * * 7",          "0 9 * * 1-5",        "5 4 1 * *",      "0 0 31 * *",
      "0 0 29 2 *",         "0 12 * 1-12/3 *",    "0 0 1,15 6-9 *", "10-50/20 */6 * * *",
      "* 2 28 3 *",         "* 2 * 3,10,11 0",    "*/30 * * 3 0",   "0 0 */2 * *",
      "45 1-3 * 10,11 6-7", "0 8-18/2 * * 1,3,5", "* * 1 1 *",      "0 0 * 2 */2",
  };
  for (const char* zone : {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}) {
    const auto minutes = minutes_of_year(zone);
    for (const std::string& cron : expressions) {
      CAPTURE(zone);
      CAPTURE(cron);
      CHECK(computed(cron, zone) == matched(cron, minutes));
    }
  }
  CHECK(computed("* * * * *", "Europe/Berlin") ==
        matched("* * * * *", minutes_of_year("Europe/Berlin")));
}

TEST_CASE("cron: rules have readable descriptions") {
  const auto words = [](const std::string& cron, const char* zone = "") {
    const std::string text = as_stored(cron, zone).schedule;
    return in_words(parse_schedule(text, now), text);
  };
  CHECK(words("* * * * *") == "every minute");
  CHECK(words("*/5 * * * *") == "every 5 minutes");
  CHECK(words("0 * * * *") == "every hour");
  CHECK(words("10 * * * *") == "every hour at minute 10");
  CHECK(words("5,35 * * * *") == "every hour at minutes 5 and 35");
  CHECK(words("0 3 * * *", "Europe/Berlin") == "every day at 03:00 Europe/Berlin");
  CHECK(words("30 9 * * 1-5") == "weekdays at 09:30 UTC");
  CHECK(words("@weekly") == "every Sunday at 00:00 UTC");
  CHECK(words("@monthly") == "every month on day 1 at 00:00 UTC");
}

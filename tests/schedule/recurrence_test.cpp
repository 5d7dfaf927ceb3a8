#include <doctest/doctest.h>

#include "schedule/recurrence_data.hpp"
#include "schedule_support.hpp"

using namespace w8y::schedule;

using Texts = std::vector<std::string>;

TEST_CASE("recurrence: each syntax of a rule is accepted") {
  const UnixSeconds expected = 1795284000;  // 18:00
  for (const char* text :
       {"DTSTART:20261120T180000\nRRULE:FREQ=DAILY", "DTSTART:20261120T180000\nFREQ=DAILY",
        "dtstart:20261120t180000\r\nrrule:freq=daily\r\n",
        "RRULE:FREQ=DAILY DTSTART:20261120T180000", "DTSTART:2026-11-20T18:00:00\nFREQ=DAILY",
        "DTSTART:2026-11-20T18:00:00.250000\nFREQ=DAILY", "DTSTART:20261120T180000.9Z\nFREQ=DAILY",
        "DTSTART:2026-11-20T18:00Z\nFREQ=DAILY", "DTSTART:20261120T1800\nFREQ=DAILY",
        "DTSTART;TZID=UTC:20261120T180000\nFREQ=DAILY",
        "DTSTART;VALUE=DATE-TIME;tzid=Etc/UTC:20261120T180000\nFREQ=DAILY",
        "DTSTART:20261120\nFREQ=DAILY;BYHOUR=18",
        "DTSTART:20261120\nFREQ=HOURLY;INTERVAL=42;COUNT=3", "FREQ=HOURLY;INTERVAL=5",
        "RDATE:20261121T180000"}) {
    CAPTURE(text);
    CHECK(why(text) == "");
    CHECK(next(text) == expected);
  }
}

TEST_CASE("recurrence: the next time is strictly later") {
  const char* text = "DTSTART:20261121T130000\nFREQ=DAILY;COUNT=2";
  CHECK(next(text, now - 1) == now);
  CHECK(next(text, now) == now + 86400);
  CHECK(next(text, now + 86400) == none);
  CHECK(next("FREQ=SECONDLY", now) == now + 1);
}

TEST_CASE("recurrence: a DTSTART that does not match is no occurrence") {
  CHECK(times("DTSTART:20261121T130000\nFREQ=DAILY;BYHOUR=9;COUNT=2", 9, now - 1) ==
        Texts{"2026-11-22T09:00:00+00:00", "2026-11-23T09:00:00+00:00"});
}

TEST_CASE("recurrence: a rule without further occurrences is valid") {
  CHECK(next("DTSTART:20130101T000000\nFREQ=SECONDLY;COUNT=1") == none);
  CHECK(next("FREQ=DAILY;UNTIL=20200101") == none);
  CHECK(next("RDATE:20200101T000000") == none);
  CHECK(next("DTSTART:99991231T235959\nFREQ=SECONDLY", latest_time) == none);
  CHECK(next("FREQ=DAILY", 9223372036854775807) == none);
  CHECK(next("DTSTART:20000101\nFREQ=DAILY", INT64_MIN) == 946684800);
}

TEST_CASE("recurrence: UNTIL is in the zone of DTSTART, or in UTC") {
  const std::string berlin = "DTSTART;TZID=Europe/Berlin:20261121T180000\nFREQ=DAILY;UNTIL=";
  CHECK(times(berlin + "20261122T180000", 9).size() == 2);
  CHECK(times(berlin + "20261122T170000Z", 9).size() == 2);
  CHECK(times(berlin + "20261122T165959Z", 9).size() == 1);
  CHECK(times(berlin + "20261122", 9).size() == 1);
}

TEST_CASE("recurrence: BYSETPOS, WKST and BYWEEKNO are supported") {
  CHECK(times("DTSTART:20261101T090000\nFREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", 2) ==
        Texts{"2026-11-30T09:00:00+00:00", "2026-12-31T09:00:00+00:00"});
  const std::string fortnight =
      "DTSTART:19970805T090000\nFREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU";
  const UnixSeconds before = 870000000;
  CHECK(times(fortnight + ";WKST=MO", 4, before) ==
        Texts{"1997-08-05T09:00:00+00:00", "1997-08-10T09:00:00+00:00", "1997-08-19T09:00:00+00:00",
              "1997-08-24T09:00:00+00:00"});
  CHECK(times(fortnight + ";WKST=SU", 4, before) ==
        Texts{"1997-08-05T09:00:00+00:00", "1997-08-17T09:00:00+00:00", "1997-08-19T09:00:00+00:00",
              "1997-08-31T09:00:00+00:00"});
  // As in dateutil, week 1 of 2026 starts on 29 December 2025.
  CHECK(times("DTSTART:20251201T090000\nFREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", 1, 1764547200) ==
        Texts{"2025-12-29T09:00:00+00:00"});
}

TEST_CASE("recurrence: leap days are skipped in other years") {
  CHECK(times("DTSTART:20240229T120000\nFREQ=YEARLY", 2) ==
        Texts{"2028-02-29T12:00:00+00:00", "2032-02-29T12:00:00+00:00"});
  // 2100 is not a leap year.
  CHECK(times("DTSTART:20240229T120000\nFREQ=YEARLY", 1, 3981398400) ==
        Texts{"2104-02-29T12:00:00+00:00"});
  CHECK(times("DTSTART:20240131T120000\nFREQ=MONTHLY", 2) ==
        Texts{"2026-12-31T12:00:00+00:00", "2027-01-31T12:00:00+00:00"});
}

TEST_CASE("recurrence: a local time that does not exist uses the offset after the change") {
  // Clocks change from 02:00 to 03:00.
  const std::string berlin = "DTSTART;TZID=Europe/Berlin:20270327T023000\nFREQ=DAILY";
  CHECK(times(berlin, 3) == Texts{"2027-03-27T02:30:00+01:00", "2027-03-28T01:30:00+01:00",
                                  "2027-03-29T02:30:00+02:00"});
  // Skipped local times occur once, between others, and are not repeated later.
  const UnixSeconds before = 1806191999;  // 2027-03-28T00:59:59+01:00
  CHECK(times("DTSTART;TZID=Europe/Berlin:20270328T000000\nFREQ=MINUTELY;INTERVAL=30", 4, before) ==
        Texts{"2027-03-28T01:00:00+01:00", "2027-03-28T01:30:00+01:00", "2027-03-28T03:00:00+02:00",
              "2027-03-28T03:30:00+02:00"});
}

TEST_CASE("recurrence: a local time that exists twice occurs the first time") {
  // Clocks change from 03:00 back to 02:00.
  const std::string berlin = "DTSTART;TZID=Europe/Berlin:20271030T023000\nFREQ=DAILY";
  CHECK(times(berlin, 3) == Texts{"2027-10-30T02:30:00+02:00", "2027-10-31T02:30:00+02:00",
                                  "2027-11-01T02:30:00+01:00"});
  // A second in the repeated hour: the next occurrence is after that hour.
  const UnixSeconds again = 1824945300;  // 2027-10-31T02:15:00+01:00
  CHECK(times("DTSTART;TZID=Europe/Berlin:20270101T000000\nFREQ=SECONDLY", 1, again) ==
        Texts{"2027-10-31T03:00:00+01:00"});
}

TEST_CASE("recurrence: zones have their offsets and names") {
  const auto lord_howe = std::get<Recurrence>(
      parse_schedule("DTSTART;TZID=Australia/Lord_Howe:20261003T021500\nFREQ=DAILY", now));
  CHECK(lord_howe.zone() == "Australia/Lord_Howe");
  CHECK(lord_howe.in_zone(now) == "2026-11-22T00:00:00+11:00");
  // The change is half an hour, on the first Sunday of April, and continues after 2037.
  CHECK(lord_howe.in_zone(2532524399) == "2050-04-03T01:59:59+11:00");
  CHECK(lord_howe.in_zone(2532524400) == "2050-04-03T01:30:00+10:30");
  CHECK(times("DTSTART;TZID=America/St_Johns:20261121T120000\nFREQ=DAILY", 1) ==
        Texts{"2026-11-21T12:00:00-03:30"});
  const auto utc = std::get<Recurrence>(parse_schedule("FREQ=DAILY", now));
  CHECK(utc.zone() == "UTC");
  CHECK(utc.in_zone(now) == "2026-11-21T13:00:00+00:00");
}

TEST_CASE("recurrence: RDATE, EXDATE, EXRULE and several rules are combined") {
  CHECK(
      times("DTSTART:20261121T120000\nFREQ=DAILY;COUNT=4\nEXDATE:20261122T120000,20261123T120000Z\n"
            "RDATE:20261125T060000",
            9) == Texts{"2026-11-24T12:00:00+00:00", "2026-11-25T06:00:00+00:00"});
  CHECK(times("DTSTART:20261121T120000\nFREQ=DAILY\nEXRULE:FREQ=WEEKLY;BYDAY=SU,MO", 2) ==
        Texts{"2026-11-24T12:00:00+00:00", "2026-11-25T12:00:00+00:00"});
  CHECK(
      times("DTSTART:20261121T120000\nFREQ=DAILY;BYHOUR=14\nFREQ=DAILY;BYHOUR=13,14;BYMINUTE=30,0",
            3) ==
      Texts{"2026-11-21T13:30:00+00:00", "2026-11-21T14:00:00+00:00", "2026-11-21T14:30:00+00:00"});
  // The RDATE has a zone of its own.
  CHECK(times("DTSTART:20261121T120000\nRDATE;TZID=America/New_York:20261121T120000", 2) ==
        Texts{"2026-11-21T17:00:00+00:00"});
  // Excluded seconds are not examined one by one. The rule excludes eleven months.
  CHECK(
      times(
          "DTSTART:20261201T000000\nFREQ=SECONDLY\nEXRULE:FREQ=SECONDLY;BYMONTH=1,2,3,4,5,6,7,8,9,"
          "10,12",
          1) == Texts{"2027-11-01T00:00:00+00:00"});
}

TEST_CASE("recurrence: the next time of an old rule takes a limited number of steps") {
  // Each rule, and the maximum number of days or steps to examine for parsing and one query.
  struct Case {
    const char* rule;
    int steps;
  };
  const Wall start = 631152000;  // 1990-01-01
  for (const Case& one :
       {Case{"FREQ=SECONDLY", 10}, Case{"FREQ=MINUTELY", 10},
        Case{"FREQ=SECONDLY;INTERVAL=7;COUNT=2000000000", 10},
        Case{"FREQ=MINUTELY;INTERVAL=13;COUNT=20000000", 10}, Case{"FREQ=HOURLY;COUNT=900000", 10},
        Case{"FREQ=DAILY;INTERVAL=3;COUNT=90000", 10}, Case{"FREQ=MINUTELY;BYHOUR=9;BYDAY=MO", 60},
        Case{"FREQ=YEARLY;BYDAY=-1SU", 20}, Case{"FREQ=SECONDLY;INTERVAL=7;BYMINUTE=5", 400},
        Case{"FREQ=WEEKLY;BYDAY=MO;COUNT=5000", 25000}}) {
    CAPTURE(one.rule);
    WorkBudget work(one.steps);
    const RuleText text = read_rule(one.rule, [](TimeText time) { return time.wall; });
    const Rule rule(text, start, work);
    const auto found = rule.next(now, work);
    CHECK_FALSE(work.used_up());
    REQUIRE(found.has_value());
    CHECK(*found >= now);
    CHECK(*found < now + 400 * day_length);
  }
}

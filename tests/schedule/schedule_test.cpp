#include <doctest/doctest.h>

#include "schedule_support.hpp"

using namespace w8y::schedule;

TEST_CASE("schedule: keywords and AT are parsed") {
  CHECK(std::holds_alternative<Stop>(parse_schedule("STOP", now)));
  CHECK(std::holds_alternative<Continue>(parse_schedule("CONTINUE", now)));
  CHECK(std::holds_alternative<Now>(parse_schedule("NOW", now)));
  CHECK(std::get<At>(parse_schedule("AT:1381720578", now)).time == 1381720578);
  CHECK(std::get<At>(parse_schedule("AT:0", now)).time == 0);
  CHECK(std::get<At>(parse_schedule("AT:253402300799", now)).time == latest_time);
}

TEST_CASE("schedule: an invalid time of AT is refused with a reason") {
  CHECK_BAD("AT:soon", "whole seconds");
  CHECK_BAD("AT:", "whole seconds");
  CHECK_BAD("AT:1.5", "whole seconds");
  CHECK_BAD("AT: 5", "whole seconds");
  CHECK_BAD("AT:-5", "before 1970");
  CHECK_BAD("AT:1795266000000", "milliseconds?");
  CHECK_BAD("AT:99999999999999999999999", "year 9999");
}

TEST_CASE("schedule: AT accepts ISO times with Z, an offset, or in UTC") {
  for (const char* text :
       {"AT:2026-11-21T13:00:00Z", "AT:2026-11-21T13:00Z", "AT:20261121T130000Z",
        "AT:2026-11-21T13:00:00", "AT:20261121T1300", "AT:2026-11-21T14:00:00+01:00",
        "AT:2026-11-21T14:00+01", "AT:20261121T093000-0330", "AT:2026-11-21T13:00:00.9Z",
        "AT:2026-11-22T00:00:00+11:00", "AT:2026-11-21T13:00:00+00:00"}) {
    CAPTURE(text);
    CHECK(why(text) == "");
    CHECK(std::get<At>(parse_schedule(text, now)).time == now);
  }
  CHECK(std::get<At>(parse_schedule("AT:2026-11-22", now)).time == now + 11 * 3600);
  CHECK(std::get<At>(parse_schedule("AT:20261122", now)).time == 20261122);
  CHECK_BAD("AT:2026-11-21T25:00", "is not a time");
  CHECK_BAD("AT:2026-11-31T12:00", "is not a time");
  CHECK_BAD("AT:2026-11-21T13:00Z+01:00", "no valid offset");
  CHECK_BAD("AT:2026-11-21T13:00+1", "no valid offset");
  CHECK_BAD("AT:2026-11-21T13:00+24:00", "no valid offset");
  CHECK_BAD("AT:2026-11-21T13:00+01:", "no valid offset");
  CHECK_BAD("AT:2026-11-21 13:00", "is not a time");
  CHECK_BAD("AT:1969-12-31T23:59:59Z", "is out of range");
  CHECK_BAD("AT:1970-01-01T00:00+01:00", "is out of range");
  CHECK_BAD("AT:9999-12-31T23:59:59-01:00", "is out of range");
}

TEST_CASE("schedule: a typed AT without zone is in the given one") {
  const auto at = [](const char* text, const char* zone) { return as_stored(text, zone).schedule; };
  CHECK(at("AT:2026-11-21T14:00", "Europe/Berlin") == "AT:1795266000");
  CHECK(at("AT:2026-11-21T14:00", "") == "AT:2026-11-21T14:00");
  // Clocks skip 02:30 on this day, and show it twice on the other.
  CHECK(at("AT:2027-03-28T02:30", "Europe/Berlin") == "AT:1806193800");
  CHECK(at("AT:2027-10-31T02:30", "Europe/Berlin") == "AT:1824942600");
  CHECK(as_stored("AT:2026-11-21T14:00Z", "Europe/Berlin").zone_error.find("already") !=
        std::string::npos);
}

TEST_CASE("schedule: an invalid text is refused with a reason") {
  CHECK_BAD("", "empty");
  CHECK_BAD(" \n\n", "empty");
  CHECK_BAD("stop", "write STOP");
  CHECK_BAD(std::string(1024 * 1024, 'X'), "at most 65536");
  CHECK_BAD(std::string("FREQ=DAILY\0", 11), "byte 11 is 0");
  CHECK_BAD("FREQ=T\xC3\x84GLICH", "plain ASCII");
  CHECK_BAD("DTSTART:20131009T164510\nR:FREQ=Secondly", "\"R:FREQ=Secondly\"");
  CHECK_BAD("DTSTART:20261121T130000", "neither RRULE nor RDATE");
  CHECK_BAD("EXRULE:FREQ=DAILY", "neither RRULE nor RDATE");
  CHECK_BAD("RRULE;X=1:FREQ=DAILY", "has no parameters; remove");
  CHECK_BAD("DTSTART;VALUE=PERIOD:20261121\nFREQ=DAILY", "VALUE=PERIOD");
}

TEST_CASE("schedule: each invalid part of a rule is named") {
  CHECK_BAD("FREQ=SOMETIMES", "\"FREQ=SOMETIMES\"");
  CHECK_BAD("INTERVAL=2", "needs FREQ");
  CHECK_BAD("FREQ=DAILY;", "invalid part of a rule");
  CHECK_BAD("FREQ=DAILY;COLOUR=RED", "COLOUR=RED");
  CHECK_BAD("FREQ=DAILY;BYEASTER=0", "RDATE");
  CHECK_BAD("FREQ=DAILY;INTERVAL=0", "INTERVAL=0");
  CHECK_BAD("FREQ=DAILY;COUNT=-1", "COUNT=-1");
  CHECK_BAD("FREQ=DAILY;BYHOUR=24", "0 to 23");
  CHECK_BAD("FREQ=DAILY;BYHOUR=9,", "BYHOUR=9,");
  CHECK_BAD("FREQ=DAILY;BYMINUTE=60", "0 to 59");
  CHECK_BAD("FREQ=DAILY;BYSECOND=60", "0 to 59");
  CHECK_BAD("FREQ=DAILY;BYMONTH=13", "1 to 12");
  CHECK_BAD("FREQ=DAILY;BYMONTH=5L", "1 to 12");
  CHECK_BAD("FREQ=DAILY;BYMONTHDAY=0", "1 to 31");
  CHECK_BAD("FREQ=DAILY;BYYEARDAY=367", "1 to 366");
  CHECK_BAD("FREQ=YEARLY;BYWEEKNO=54", "1 to 53");
  CHECK_BAD("FREQ=YEARLY;BYSETPOS=0", "1 to 366");
  CHECK_BAD("FREQ=YEARLY;BYDAY=0MO", "1MO");
  CHECK_BAD("FREQ=YEARLY;BYDAY=XX", "BYDAY=XX");
  CHECK_BAD("FREQ=WEEKLY;WKST=1", "WKST=1");
  CHECK_BAD("FREQ=DAILY;UNTIL=tomorrow", "TOMORROW");
}

TEST_CASE("schedule: an invalid time or zone is refused with a reason") {
  for (const std::string text : {"20261321T130000", "20260230", "2026-11-2", "20261121T250000",
                                 "20261121T1300", "00000101T000000", "20261121X", "now", ""}) {
    CAPTURE(text);
    const std::string rule = "DTSTART:" + text + "\nFREQ=DAILY";
    if (text != "20261121T1300") CHECK(why(rule).find("is not a time") != std::string::npos);
  }
  CHECK_BAD("DTSTART:20261121T130000+0100\nFREQ=DAILY", "has an offset");
  CHECK_BAD("DTSTART;TZID=Europe/Berlin:20261121T130000Z\nFREQ=DAILY", "both TZID and a Z");
  for (const std::string zone : {"Nowhere", "europe/berlin", "../../etc/passwd", "/etc/localtime",
                                 "zone.tab", "", "Europe", "A/"}) {
    CAPTURE(zone);
    CHECK(why("DTSTART;TZID=" + zone + ":20261121T130000\nFREQ=DAILY").find("no such zone") !=
          std::string::npos);
  }
}

TEST_CASE("schedule: a rule that never fires is invalid") {
  for (const char* rule :
       {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2", "FREQ=YEARLY;BYDAY=MO,1TU",
        "FREQ=DAILY;INTERVAL=7;BYDAY=SU", "FREQ=YEARLY;INTERVAL=4;BYYEARDAY=366",
        "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1", "FREQ=HOURLY;INTERVAL=24;BYHOUR=5",
        "FREQ=SECONDLY;BYSETPOS=2"}) {
    CAPTURE(rule);
    // DTSTART is a Saturday.
    CHECK(why(std::string("DTSTART:20261121T130000\n") + rule).find("never fires") !=
          std::string::npos);
  }
  // Of two rules, one may never fire.
  CHECK(next("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30\nFREQ=YEARLY;BYMONTH=2;BYMONTHDAY=1") != none);
}

TEST_CASE("schedule: a schedule that is too expensive to evaluate is invalid") {
  CHECK_BAD(
      "FREQ=SECONDLY\nEXRULE:FREQ=SECONDLY;INTERVAL=2\nEXRULE:FREQ=SECONDLY;INTERVAL=2;BYSECOND=1",
      "never fires");
  CHECK_BAD("DTSTART:20200101\nFREQ=SECONDLY\nEXRULE:FREQ=SECONDLY;BYSETPOS=1",
            "exceeds the limit");
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "FREQ=DAILY\n";
  CHECK_BAD(many, "too many rules");
}

TEST_CASE("schedule: a schedule has a readable description") {
  const auto words = [](const std::string& text) {
    return in_words(parse_schedule(text, now), text);
  };
  CHECK(words("STOP") == "stopped");
  CHECK(words("AT:1795266000") == "once at 2026-11-21T13:00:00Z");
  CHECK(words("FREQ=MINUTELY;INTERVAL=5") == "every 5 minutes");
  CHECK(words("FREQ=DAILY") == "every day");
  CHECK(words("DTSTART;TZID=Europe/Berlin:20261121T090000\nFREQ=DAILY;BYDAY=MO,TU,WE,TH,FR") ==
        "weekdays at 09:00 Europe/Berlin");
  CHECK(words("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;BYHOUR=9,17;BYMINUTE=30;BYSECOND=0") ==
        "every 2 weeks on Monday and Thursday at 09:30 and 17:30 UTC");
  CHECK(words("DTSTART:20261121T091530\nFREQ=MONTHLY;BYMONTHDAY=1,-1;COUNT=3") ==
        "every month on day 1 and the last day at 09:15:30 UTC, 3 times");
  CHECK(words("DTSTART:20261224T090000\nFREQ=YEARLY;UNTIL=20301231") ==
        "every year on 12-24 at 09:00 UTC, until 2030-12-31");
  CHECK(words("DTSTART:20261121T000500\nFREQ=HOURLY;INTERVAL=2") == "every 2 hours at minute 5");
  CHECK(words("RDATE:20261121T130000") == "once at 2026-11-21T13:00:00Z");
  CHECK(words("DTSTART:20261121T000000\nFREQ=YEARLY;BYWEEKNO=20") ==
        "DTSTART:20261121T000000 FREQ=YEARLY;BYWEEKNO=20");
  CHECK(words("nonsense") == "nonsense");
}

TEST_CASE("schedule: parts that Redbike does not support are named") {
  CHECK(redbike_stumbles("DTSTART:20261121T130000\nFREQ=DAILY") == "");
  CHECK(redbike_stumbles("STOP") == "");
  CHECK(redbike_stumbles("nonsense:Z") == "");
  const auto at = [](const char* text, const char* what) {
    return redbike_stumbles(text).find(what) != std::string::npos;
  };
  CHECK(at("DTSTART;TZID=Europe/Berlin:20261121T130000\nFREQ=DAILY", "the TZID of DTSTART"));
  CHECK(at("DTSTART:20261121T130000z\nFREQ=DAILY", "the Z of DTSTART"));
  CHECK(at("FREQ=DAILY;UNTIL=20261231T000000Z;COUNT=3", "the Z of UNTIL"));
  CHECK(at("FREQ=DAILY\nEXDATE:20261122,20261123T000000Z", "the Z of EXDATE"));
}

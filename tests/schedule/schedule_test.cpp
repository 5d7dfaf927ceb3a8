#include "schedule/schedule.hpp"

#include <doctest/doctest.h>

using namespace w8y::schedule;

namespace {

constexpr UnixSeconds now = 1795266000;  // 2026-11-21T13:00:00Z

std::string why(std::string_view text) {
  const Schedule schedule = parse_schedule(text, now);
  const Bad* bad = std::get_if<Bad>(&schedule);
  return bad == nullptr ? "" : bad->why;
}

}  // namespace

TEST_CASE("schedule: the words") {
  CHECK(std::holds_alternative<Stop>(parse_schedule("STOP", now)));
  CHECK(std::holds_alternative<Continue>(parse_schedule("CONTINUE", now)));
  CHECK(std::holds_alternative<Now>(parse_schedule("NOW", now)));
  CHECK(std::get<At>(parse_schedule("AT:1381720578", now)).time == 1381720578);
  CHECK(std::get<At>(parse_schedule("AT:0", now)).time == 0);
  CHECK(why("") != "");
}

TEST_CASE("schedule: what AT can't be") {
  CHECK(why("AT:soon").find("whole seconds") != std::string::npos);
  CHECK(why("AT:") != "");
  CHECK(why("AT:1.5") != "");
  CHECK(why("AT:-5").find("never comes") != std::string::npos);
  CHECK(why("AT:1795266000000").find("milliseconds?") != std::string::npos);
  CHECK(why("AT:99999999999999999999999") != "");
}

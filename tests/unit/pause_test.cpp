#include "core/pause.hpp"

#include <doctest/doctest.h>

using namespace w8y;
using namespace std::chrono_literals;

TEST_CASE("a pause is written as readable text and parsed from it") {
  // 2026-01-31T12:34:56Z
  const Pause pause{"new disks", "jo on web1", WallTime(1769862896000), WallTime(0)};
  CHECK(pause_value(pause) == "new disks (by jo on web1 since 2026-01-31T12:34:56Z)");
  CHECK(parse_pause(pause_value(pause)) == pause);

  const Pause silent{"", "jo on web1", WallTime(1769862896000), WallTime(0)};
  CHECK(pause_value(silent) == "(by jo on web1 since 2026-01-31T12:34:56Z)");
  CHECK(parse_pause(pause_value(silent)) == silent);
}

TEST_CASE("any other text is the reason of the pause") {
  for (const char* text : {"", "new disks", "see (by hand)", "(by jo since noon)",
                           "x(by jo since 2026-01-31T12:34:56Z)",
                           "x (by jo since 2026-01-31T12:34:56Z) y", "(by  since )", ")"}) {
    CAPTURE(text);
    const Pause pause = parse_pause(text);
    CHECK(pause.reason == text);
    CHECK(pause.by.empty());
    CHECK(pause.since == 0ms);
  }
  // A reason may look like an operator. The last one is the operator.
  const Pause twice =
      parse_pause("a (by b since 2026-01-31T12:34:56Z) (by c since 2026-01-31T12:34:57Z)");
  CHECK(twice.reason == "a (by b since 2026-01-31T12:34:56Z)");
  CHECK(twice.by == "c");
}

TEST_CASE("the text of a pause has its reason, operator, duration and remaining time") {
  Pause pause{"new disks", "jo on web1", WallTime(1'000'000), WallTime(0)};
  CHECK(pause_text(pause, WallTime(1'720'000)) == "new disks, by jo on web1, for 12m");
  pause.until = WallTime(1'000'000 + 3'600'000);
  CHECK(pause_text(pause, WallTime(1'720'000)) == "new disks, by jo on web1, for 12m, 48m left");
  CHECK(pause_text(Pause{"why", "", 0ms, 0ms}, WallTime(1)) == "why");
  CHECK(pause_text(Pause{}, WallTime(1)).empty());
}

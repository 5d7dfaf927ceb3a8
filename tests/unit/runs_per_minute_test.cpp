// Run counts of the last hour: limited, and without idle lists.
#include "core/runs_per_minute.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace w8y;

namespace hour_test {
namespace {

WallTime at_minute(std::int64_t minute, std::int64_t seconds = 0) {
  return WallTime((minute * 60 + seconds) * 1000);
}

constexpr std::int64_t first = 29'000'000;

}  // namespace

TEST_CASE("runs and failures are counted per minute, for each list and in total") {
  RunsPerMinute hour;
  CHECK(hour.total(at_minute(first)).empty());
  hour.add("a", false, 1ms, at_minute(first, 1));
  hour.add("a", true, 1ms, at_minute(first, 59));
  hour.add("b", false, 1ms, at_minute(first + 2));
  using Figures = std::vector<MinuteCount>;
  CHECK(hour.total(at_minute(first + 2)) == Figures{{first, 2, 1}, {first + 2, 1, 0}});
  CHECK(hour.of("a", at_minute(first + 2)) == Figures{{first, 2, 1}});
  CHECK(hour.of("b", at_minute(first + 2), 2) == Figures{{first + 2, 1, 0}});
  CHECK(hour.of("c", at_minute(first + 2)).empty());
  CHECK(to_json_text(hour.total(at_minute(first + 2))) == "[[29000000,2,1],[29000002,1,0]]");
  std::string seen;
  hour.each(first, [&seen](const std::string& prefix, const MinuteCount& stats) {
    seen += prefix + std::to_string(stats.runs);
  });
  CHECK(seen == "a2");
}

TEST_CASE("counts older than an hour are removed, with lists that have no others") {
  RunsPerMinute hour;
  for (int i = 0; i < 1000; ++i) hour.add("list" + std::to_string(i), false, 1ms, at_minute(first));
  hour.add("busy", false, 1ms, at_minute(first + 30));
  CHECK(hour.lists() == 1001);
  CHECK(hour.total(at_minute(first + 59)).size() == 2);
  CHECK(hour.total(at_minute(first + 60)).size() == 1);
  CHECK(hour.of("list1", at_minute(first + 60)).empty());
  hour.add("busy", true, 1ms, at_minute(first + 60));
  CHECK(hour.lists() == 1);
  CHECK(hour.of("busy", at_minute(first + 60)) ==
        std::vector<MinuteCount>{{first + 30, 1, 0}, {first + 60, 1, 1}});
}

TEST_CASE("counts after a break of an hour do not include those before it") {
  RunsPerMinute hour;
  hour.add("a", true, 1ms, at_minute(first));
  hour.add("a", false, 1ms, at_minute(first + RunsPerMinute::length));  // the same bucket
  CHECK(hour.of("a", at_minute(first + RunsPerMinute::length)) ==
        std::vector<MinuteCount>{{first + RunsPerMinute::length, 1, 0}});
  hour.add("a", false, 1ms, at_minute(first));  // the clock was set back
  CHECK(hour.of("a", at_minute(first + RunsPerMinute::length)) ==
        std::vector<MinuteCount>{{first + RunsPerMinute::length, 2, 0}});
}

TEST_CASE("the sum of a list has the runs of the last hour") {
  RunsPerMinute hour;
  hour.add("a", true, 1ms, 10min);
  hour.add("a", false, 1ms, 69min);
  hour.add("b", true, 1ms, 69min);
  const MinuteCount all = hour.sum("a", 69min);
  CHECK(all.runs == 2);
  CHECK(all.failed == 1);
  CHECK(hour.sum("a", 70min).runs == 1);
  CHECK(hour.sum("none", 70min).runs == 0);
}

}  // namespace hour_test

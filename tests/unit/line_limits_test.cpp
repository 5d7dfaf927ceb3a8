#include "core/line_limits.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace line_limits_test {
namespace {

std::size_t admitted(LineLimit& limit, Instant now, std::size_t lines) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < lines; ++i) count += limit.admits(now) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("1,000 lines per second are always admitted") {
  const Instant start = FakeClock().now();
  LineLimit limit(start);
  for (int i = 0; i < 100000; ++i) REQUIRE(limit.admits(start + i * 1ms));
  CHECK(limit.left_out() == 0);
}

TEST_CASE("a flood of lines is admitted up to the burst, then at 1,000 lines per second") {
  const Instant start = FakeClock().now();
  LineLimit limit(start);
  CHECK(admitted(limit, start, 50000) == LineLimit::at_once);
  CHECK(limit.left_out() == 50000 - LineLimit::at_once);
  CHECK(admitted(limit, start + 999ms, 100) == 0);
  CHECK(admitted(limit, start + 1s, 1) == 1);
  CHECK(limit.drain_omitted() == 50000 - LineLimit::at_once + 100);
  CHECK(admitted(limit, start + 1s, 5000) == LineLimit::per_second - 1);
  CHECK(limit.left_out() == 5000 - LineLimit::per_second + 1);
  CHECK_FALSE(limit.rested(start + 60s));
  limit.drain_omitted();
  CHECK_FALSE(limit.rested(start + 10s));
  CHECK(limit.rested(start + 11s));
  CHECK(admitted(limit, start + 11s, 20000) == LineLimit::at_once);
}

TEST_CASE("each source has its own limit, and the number of its dropped lines is reported once") {
  FakeClock clock;
  LineLimits limits(clock);
  for (std::size_t i = 0; i < LineLimit::at_once; ++i) REQUIRE(limits.admit("A").admitted);
  CHECK_FALSE(limits.admit("A").admitted);
  CHECK_FALSE(limits.admit("A").admitted);
  CHECK(limits.admit("B").admitted);
  clock.set(clock.now() + 1s);
  CHECK(limits.admit("A").left_out == 2);
  CHECK(limits.admit("A").left_out == 0);
  CHECK(limits.remove("A") == 0);
  CHECK(limits.remove("nobody") == 0);
  for (std::size_t i = 0; i < LineLimit::at_once + 3; ++i) limits.admit("A");
  CHECK(limits.remove("A") == 3);
}

TEST_CASE("a limit may have another rate, and all dropped lines are reported together") {
  FakeClock clock;
  LineLimits limits(clock, {1min, 2});
  const auto ask = [&](const char* talker, int lines) {
    int count = 0;
    for (int i = 0; i < lines; ++i) count += limits.admit(talker).admitted ? 1 : 0;
    return count;
  };
  CHECK(ask("A", 70'000) == 2);
  CHECK(ask("B", 1) == 1);
  CHECK(limits.drain_omitted() == std::vector<std::pair<std::string, std::size_t>>{{"A", 69'998}});
  CHECK(limits.drain_omitted().empty());
  clock.set(clock.now() + 59s);
  CHECK(ask("A", 5) == 0);
  clock.set(clock.now() + 1s);
  CHECK(ask("A", 5) == 1);
}

TEST_CASE("sources without recent lines are removed") {
  FakeClock clock;
  LineLimits limits(clock);
  for (int i = 0; i < 10000; ++i) {
    limits.admit(std::to_string(i));
    clock.set(clock.now() + 1s);
  }
  CHECK(limits.size() <= 64);
}

}  // namespace line_limits_test

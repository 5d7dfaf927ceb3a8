#include "app/fleet_command_log.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "app_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace fleet_command_log_test {
namespace {

struct Fixture : Time {
  FakeLog log;
  std::optional<app::FleetCommandLog> commands{std::in_place, log, clock, timers};

  void receive(FleetCommandKind kind, int times = 1) {
    FleetCommand order;
    order.kind = kind;
    order.by = "alice";
    order.id = "17";
    for (int i = 0; i < times; ++i) commands->received(order);
  }
};

}  // namespace

TEST_CASE("a fleet command is logged with its operator") {
  Fixture f;
  f.receive(FleetCommandKind::drain);
  CHECK(f.log.drain() == Lines{"info fleet command received command=drain by=alice id=17"});
}

TEST_CASE("a flood of fleet commands is logged in a limited number of lines, then as a count") {
  Fixture f;
  f.receive(FleetCommandKind::quiet, 68'940);
  CHECK(f.log.drain().size() == 100);
  f.pass(10s);
  CHECK(f.log.drain() == Lines{"warn fleet commands not logged command=quiet dropped_lines=68840"});
  f.pass(1h);
  CHECK(f.log.drain().empty());
}

TEST_CASE("a flood of one command hides no other command") {
  Fixture f;
  f.receive(FleetCommandKind::quiet, 1'000'000);
  f.log.drain();
  f.receive(FleetCommandKind::drain);
  CHECK(f.log.drain() == Lines{"info fleet command received command=drain by=alice id=17"});
}

TEST_CASE("a continuing flood costs one line per second, and one with the count every 10 s") {
  Fixture f;
  for (int i = 0; i < 600; ++i) {
    f.receive(FleetCommandKind::cancel, 1000);
    f.pass(100ms);
  }
  const std::size_t counts = f.log.count("dropped_lines=");
  CHECK(counts <= 6);
  CHECK(f.log.lines.size() - counts <= 100 + 60);
  f.pass(10s);
  CHECK(f.log.count("dropped_lines=") >= 5);
}

TEST_CASE("each command of a continuing flood is logged or counted") {
  Fixture f;
  for (int i = 0; i < 55; ++i) {
    f.receive(FleetCommandKind::cancel, 100);
    f.pass(100ms);
  }
  f.pass(1min);
  std::size_t counted = f.log.count("fleet command received");
  for (const std::string& line : f.log.lines)
    if (const auto at = line.find("dropped_lines="); at != std::string::npos)
      counted += std::stoul(line.substr(at + 14));
  CHECK(counted == 5500);
}

TEST_CASE("ignored commands are logged once per minute, then with their number") {
  Fixture f;
  for (int i = 0; i < 1000; ++i)
    f.commands->ignored("w8y-fleet:control", "it is not a JSON object");
  CHECK(f.log.drain() == Lines{"warn invalid fleet command ignored channel=w8y-fleet:control "
                               "reason=\"it is not a JSON object\""});
  f.pass(10s);
  CHECK(f.log.drain() == Lines{"warn invalid fleet commands not logged dropped_lines=999"});
}

TEST_CASE("dropped replies are counted, and the count is logged at the end as well") {
  Fixture f;
  f.commands->dropped_reply();
  f.commands->dropped_reply();
  CHECK(f.log.drain().empty());
  f.commands.reset();
  CHECK(f.log.drain() ==
        Lines{"warn fleet command replies not sent, Redis too slow dropped_replies=2"});
}

}  // namespace fleet_command_log_test

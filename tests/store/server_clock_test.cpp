// Tests of the corrections after the clock of Redis was set back.
#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "schedule_bike.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace server_clock_test {
namespace {

/// Simulates a jump of the clock between two replies to TIME.
void jump(store::RedisSession& session, Duration by) {
  const Instant now = session.clock.now();
  const WallTime time{1'000'000'000'000};
  session.server_clock.note(time, now, now);
  session.server_clock.note(time + std::chrono::duration_cast<WallTime>(by), now, now);
}

}  // namespace

TEST_CASE("a clock that differs by less than two seconds from reply to reply has not jumped") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  jump(*host.session, 1900ms);
  jump(*host.session, -1900ms);
  CHECK_FALSE(host.session->server_clock.last_jump());
  jump(*host.session, 3s);
  REQUIRE(host.session->server_clock.last_jump());
  CHECK(host.session->server_clock.last_jump()->by == 3s);
  // A slow reply is not compared: its time is uncertain by the round trip.
  const Instant now = host.session->clock.now();
  host.session->server_clock.note(WallTime{1'000'000'000'000}, now - 20s, now);
  CHECK(host.session->server_clock.last_jump()->by == 3s);
}

TEST_CASE("delays that were set while the clock was a day ahead are shortened by a day") {
  RedisServer server;
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.circular().cooldown = 60s;
  Host host(loop, server.url(), rule);
  server.command({"EVAL", "for i = 1, 25000 do redis.call('RPUSH', KEYS[1], 'item' .. i) end", "1",
                  "work:list"});
  const std::string day_and_minute = std::to_string(86'400'000 + 60'000);
  server.command({"SET", "work:lock:item1", "delay:cooldown", "PX", day_and_minute});
  server.command({"SET", "work:lock:item25000", "delay:backoff", "PX", day_and_minute});
  server.command({"SET", "work:lock:item2", "delay:cooldown", "PX", "50000"});
  server.command({"SET", "work:lock:item3", "run:web2:1:x", "PX", day_and_minute});
  server.command({"SET", "work:lock:item4", "another's", "PX", day_and_minute});
  server.command(
      {"SET", "work:lock:item5", "delay:cooldown", "PX", "604800000"});  // by its executor
  const auto left = [&](int item) {
    return std::stoi(server.command({"PTTL", "work:lock:item" + std::to_string(item)}));
  };
  jump(*host.session, -24h);
  CHECK(query_until(loop, [&] { return left(1) <= 60'000 && left(25'000) <= 60'000; }));
  CHECK(left(1) > 40'000);
  CHECK(left(2) > 40'000);
  CHECK(left(3) > 80'000'000);  // not a delay
  CHECK(left(4) > 80'000'000);
  CHECK(left(5) > 600'000'000);
  // Another host does the same: nothing changes.
  Host other(loop, server.url(), rule, "other");
  const auto looked = server.calls("pttl");
  jump(*other.session, -24h);
  CHECK(query_until(loop, [&] { return server.calls("pttl") >= looked + 25'000; }));
  CHECK(left(1) > 40'000);
}

TEST_CASE(
    "jobs that are due later than their schedule permits move to the next time of the schedule") {
  Bike bike;
  const UnixSeconds now = bike.now();
  const auto on_timeline = [&](const std::string& job, const std::string& schedule,
                               UnixSeconds due) {
    bike.command({"HSET", "bike-schedules", job, schedule});
    bike.command({"ZADD", "bike-timeline", std::to_string(due), job});
  };
  const UnixSeconds day = 86'400;
  on_timeline("late:A", "RRULE:FREQ=HOURLY", now + day + 3600);
  on_timeline("in-time:A", "RRULE:FREQ=HOURLY", now + 1800);
  on_timeline("once:A", "AT:2037-01-01T00:00:00Z", now + 100 * day);
  on_timeline("yearly:A", "DTSTART:20200101T000000Z\nRRULE:FREQ=YEARLY", now + 400 * day);
  for (int i = 0; i < 200; ++i)
    on_timeline(std::to_string(i) + ":A", "RRULE:FREQ=MINUTELY", now + day + i % 60);
  (void)bike.host.queue->listen_to_timeline();
  jump(*bike.host.session, -24h);
  CHECK(query_until(bike.loop, [&] { return bike.due("0:A") <= bike.now() + 60; }));
  for (int i = 0; i < 200; ++i) CHECK(bike.due(std::to_string(i) + ":A") <= bike.now() + 60);
  CHECK(bike.due("late:A") <= bike.now() + 3600);
  CHECK(bike.due("in-time:A") == now + 1800);
  CHECK(bike.due("once:A") == now + 100 * day);
  CHECK(bike.due("yearly:A") == now + 400 * day);  // the time is not from its schedule
}

}  // namespace server_clock_test

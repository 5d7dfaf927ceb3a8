// Runs for the times of a recurrence rule that were missed (`catch_up`).
#include <doctest/doctest.h>

#include "schedule_bike.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store;
using namespace w8y::verbs;

namespace schedule_catch_up_test {
namespace {

constexpr const char* hourly = "DTSTART:20131009T000000\nRRULE:FREQ=HOURLY";

struct Late : Bike {
  explicit Late(CatchUp catch_up) { host.use(schedule_rule(), {"A"}, catch_up); }

  /// Dispatches until no job is due, and returns the number of calls.
  int dispatch() {
    for (int calls = 1;; ++calls) {
      const std::size_t before = host.reported.dispatches.size();
      host.queue->dispatch();
      REQUIRE(turn_until(loop, [&] { return host.reported.dispatches.size() > before; }));
      const auto& reply = host.reported.dispatches.back().reply;
      REQUIRE(reply);
      if (!reply->more) return calls;
      REQUIRE(calls < 20);
    }
  }
  void put(const std::string& job, const std::string& schedule, UnixSeconds due) const {
    command({"HSET", "bike-schedules", job, schedule});
    command({"HSET", "bike-statuses", job, "TML:1"});
    command({"ZADD", "bike-timeline", std::to_string(due), job});
  }
  std::string queued() const { return command({"LRANGE", "bike-work-A", "0", "-1"}); }
  /// Runs the job whenever it is due, and returns the times for which it was dispatched.
  std::vector<UnixSeconds> times_of_runs(const std::string& job) {
    std::vector<UnixSeconds> times;
    while (times.size() < 10 && due(job) <= now()) {
      times.push_back(due(job));
      dispatch();
      const Claim claim = host.claim_one_job();
      REQUIRE(claim.item == job);
      REQUIRE(host.settle(claim, ActOnSchedule{}));
    }
    return times;
  }
  UnixSeconds full_hour() const { return now() / 3600 * 3600; }
};

}  // namespace

TEST_CASE("with catch_up = one, a job runs once for all missed times") {
  Late bike(CatchUp::one);
  const UnixSeconds hour = bike.full_hour();
  bike.put("x:A", hourly, hour - 3 * 3600);
  CHECK(bike.times_of_runs("x:A") == std::vector{hour - 3 * 3600});
  CHECK(bike.due("x:A") > bike.now());
  CHECK(bike.command({"EXISTS", "bike:due"}) == "0");
}

TEST_CASE("with catch_up = all, a job runs for each missed time, in order") {
  Late bike(CatchUp::all);
  const UnixSeconds hour = bike.full_hour();
  bike.put("x:A", hourly, hour - 2 * 3600);
  const std::vector<UnixSeconds> times = bike.times_of_runs("x:A");
  REQUIRE(times.size() >= 3);
  CHECK(std::vector(times.begin(), times.begin() + 3) ==
        std::vector{hour - 2 * 3600, hour - 3600, hour});
  CHECK(bike.due("x:A") > bike.now());
  CHECK(bike.due("x:A") % 3600 == 0);
  CHECK(bike.command({"EXISTS", "bike:due"}) == "0");
}

TEST_CASE("with catch_up = all, a job that ran late for another reason has no further runs") {
  Late bike(CatchUp::all);
  bike.run("once:A", "STOP");
  CHECK(bike.event("once:A") == "STP");
  bike.run("again:A", hourly);  // was not dispatched for a time
  CHECK(bike.due("again:A") > bike.now());
}

TEST_CASE("with catch_up = all, a job that is set forgets its missed times") {
  Late bike(CatchUp::all);
  redis::ClientOptions options;
  options.url = redis::parse_url(bike.server.url());
  redis::SyncClient client(bike.loop, options);
  ScheduleChanges changes(client, ScheduleKeys("bike"));
  bike.put("x:A", hourly, bike.full_hour() - 5 * 3600);
  bike.dispatch();
  CHECK(bike.command({"HGET", "bike:due", "x:A"}) == std::to_string(bike.full_hour() - 5 * 3600));
  const Claim claim = bike.host.claim_one_job();
  changes.set({{"x:A", hourly, RunAt{bike.full_hour() + 3600}}});
  CHECK(bike.command({"EXISTS", "bike:due"}) == "0");
  CHECK(bike.host.settle(claim, ActOnSchedule{}));
  CHECK(bike.due("x:A") > bike.now());
  bike.put("x:A", hourly, bike.full_hour() - 5 * 3600);
  bike.dispatch();
  CHECK(changes.unset("x:A"));
  CHECK(bike.command({"EXISTS", "bike:due"}) == "0");
}

TEST_CASE("with catch_up = none, a missed time has no run, and the job waits for the next one") {
  Late bike(CatchUp::none);
  bike.put("x:A", hourly, bike.full_hour() - 3 * 3600);
  CHECK(bike.dispatch() == 2);
  CHECK(bike.queued() == "");
  CHECK(bike.event("x:A") == "TML");
  CHECK(bike.due("x:A") > bike.now());
  CHECK(bike.due("x:A") % 3600 == 0);
  bike.put("over:A", "DTSTART:20131009T000000\nRRULE:FREQ=HOURLY;COUNT=2", bike.now() - 3600);
  bike.dispatch();
  CHECK(bike.queued() == "");
  CHECK(bike.event("over:A") == "STP");
  CHECK(bike.command({"ZRANGE", "bike-timeline", "0", "-1"}) == "x:A");
}

TEST_CASE("with catch_up = none, a job runs if it is late by less than a minute, or runs once") {
  Late bike(CatchUp::none);
  bike.put("late:A", hourly, bike.now() - 30);
  bike.dispatch();
  CHECK(bike.queued() == "late:A");
  bike.put("bad:A", "FREQ=SOMETIMES", bike.now() - 90);
  bike.put("at:A", "STOP", bike.now() - 100);
  bike.put("other:A", "AT:5", bike.now() - 110);
  bike.dispatch();
  CHECK(bike.queued() == "bad:A\nat:A\nother:A\nlate:A");
}

TEST_CASE("with catch_up = none, a job whose schedule has changed is decided again") {
  Late bike(CatchUp::none);
  bike.put("x:A", hourly, bike.full_hour() - 3 * 3600);
  bike.host.queue->dispatch();
  REQUIRE(turn_until(bike.loop, [&] { return bike.host.reported.dispatches.size() == 1; }));
  CHECK(bike.host.reported.dispatches.back().reply->more);
  CHECK(bike.host.reported.dispatches.back().reply->taken_off == 0);
  bike.command({"HSET", "bike-schedules", "x:A", daily});
  CHECK(bike.dispatch() == 2);
  CHECK(bike.due("x:A") % 86400 == 16 * 3600 + 45 * 60 + 10);
  CHECK(bike.queued() == "");
}

TEST_CASE("with catch_up = none, more missed jobs than one call decides delay no other job") {
  Late bike(CatchUp::none);
  for (int i = 0; i < 150; ++i)
    bike.put(std::to_string(i) + ":A", hourly, bike.full_hour() - 3 * 3600);
  bike.put("now:A", "STOP", bike.now());
  CHECK(bike.dispatch() == 4);
  CHECK(bike.queued() == "now:A");
  CHECK(bike.command({"ZCARD", "bike-timeline"}) == "150");
}

}  // namespace schedule_catch_up_test

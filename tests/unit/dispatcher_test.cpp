// When a timeline is looked at, with one that is a fake.
#include "source/schedule/dispatcher.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/schedule_settings.hpp"
#include "fake_schedule.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace dispatcher_test {
namespace {

struct Bench : World, ListMaintenanceHandler {
  Bench() {
    rule.source = ScheduleSettings{{"A"}, true, OnFailure::die, "/t"};
    make();
  }
  void make() {
    dispatcher = std::make_unique<source::Dispatcher>(
        clock, timers, idle, *this,
        [this](store::ScheduleQueueHandler& told) {
          auto fake = std::make_unique<FakeSchedule>(clock, timers, told);
          timeline = fake.get();
          return fake;
        },
        [this](const std::string& path, store::UnixSeconds time) {
          CHECK(path == "/t");
          noted.push_back(time);
        },
        share(rule));
    settle_down();
  }
  void on_maintenance_error(const std::string& why) override { errors.push_back(why); }

  ListConfig rule = rule_for("mix");
  IdlePolls idle{timers, clock, 100, 7};
  FakeSchedule* timeline = nullptr;
  std::vector<store::UnixSeconds> noted;
  std::vector<std::string> errors;
  std::unique_ptr<source::Dispatcher> dispatcher;
};

}  // namespace

TEST_CASE("a due job is dispatched in its millisecond, however far away it was") {
  Bench bench;
  bench.timeline->put_on_timeline(10ms);
  bench.timeline->put_on_timeline(3333ms);
  bench.timeline->put_on_timeline(1h);
  bench.run_for(2h);
  REQUIRE(bench.timeline->late.size() == 3);
  for (const Duration late : bench.timeline->late) CHECK(late <= 1ms);
}

TEST_CASE("a thousand timelines at once: few first looks are out at a time") {
  World world;
  IdlePolls idle{world.timers, world.clock, 100, 7};
  struct : ListMaintenanceHandler {
    void on_maintenance_error(const std::string&) override {}
  } handler;
  std::size_t most = 0;
  FakeSchedule::Out out{0, &most};
  std::vector<std::unique_ptr<source::Dispatcher>> all;
  ListConfig rule = rule_for("mix");
  rule.source = ScheduleSettings{{"A"}, true, OnFailure::die, {}};
  for (int i = 0; i < 1000; ++i) {
    all.push_back(std::make_unique<source::Dispatcher>(
        world.clock, world.timers, idle, handler,
        [&](store::ScheduleQueueHandler& told) {
          auto fake = std::make_unique<FakeSchedule>(world.clock, world.timers, told);
          fake->takes_time = 3ms;
          fake->out = &out;
          return fake;
        },
        [](const std::string&, store::UnixSeconds) {}, share(rule)));
  }
  world.run_for(2ms);
  CHECK(most <= IdlePolls::least_back);
  // More as soon as they are answered soon.
  world.run_for(40ms);
  CHECK(out.answered >= 1000);
  CHECK(most <= IdlePolls::most_back);
}

TEST_CASE("what nobody told us of is dispatched within a quarter of a second or so") {
  Bench bench;
  bench.timeline->put_on_timeline(1h);
  bench.run_for(10s);
  bench.timeline->put_on_timeline(20ms, false);
  bench.run_for(1s);
  REQUIRE(bench.timeline->late.size() == 1);
  CHECK(bench.timeline->late[0] <= 400ms);
}

TEST_CASE("what another puts on the timeline is looked for at once, where that is heard of") {
  Bench bench;
  bench.timeline->put_on_timeline(1h);
  bench.run_for(1s);
  bench.timeline->change_timeline(-1s);  // due already
  bench.run_for(2ms);
  CHECK(bench.timeline->late.size() == 1);
  bench.timeline->change_timeline(30ms);
  bench.run_for(31ms);
  CHECK(bench.timeline->late.size() == 2);
}

TEST_CASE("changes of the timeline that bring nothing earlier are looked for less and less often") {
  Bench bench;
  bench.timeline->put_on_timeline(1h);
  bench.run_for(1s);
  const std::size_t before = bench.timeline->looks;
  for (int i = 0; i < 1000; ++i) {
    bench.timeline->change_timeline(2h);
    bench.run_for(1ms);
  }
  // Some while it grows rare, then three a second, and those that come in their turn.
  CHECK(bench.timeline->looks - before <= 16);
  // What is earlier is found all the same, and from then on is looked for at once again.
  bench.timeline->change_timeline(0s);
  bench.run_for(400ms);
  CHECK(bench.timeline->late.size() == 1);
  bench.timeline->change_timeline(0s);
  bench.run_for(15ms);
  CHECK(bench.timeline->late.size() == 2);
}

TEST_CASE("who does not dispatch does not look for changes") {
  Bench bench;
  bench.rule.source = ScheduleSettings{{"A"}, false, OnFailure::die, {}};
  bench.make();
  for (int i = 0; i < 100; ++i) {
    bench.timeline->change_timeline(-1s);
    bench.run_for(1ms);
  }
  CHECK(bench.timeline->looks == 0);
  CHECK(bench.timeline->recovers <= 3);
}

TEST_CASE("a thousand that are due together are dispatched by calls that follow each other") {
  Bench bench;
  for (int i = 0; i < 1000; ++i) bench.timeline->put_on_timeline(1s, false);
  bench.timeline->handler.on_news(store::ScheduleNews::timeline);
  bench.settle_down();
  const std::size_t looks = bench.timeline->looks;
  bench.run_for(1001ms);
  CHECK(bench.timeline->late.size() == 1000);
  CHECK(bench.timeline->looks <= looks + 10);
}

TEST_CASE("a timeline at rest costs few commands, and those whose holder is gone are looked for") {
  Bench bench;
  bench.run_for(60s);
  CHECK(bench.timeline->looks + bench.timeline->recovers <= 60 * 4 + 20);
  CHECK(bench.timeline->recovers >= 9);
  CHECK(bench.timeline->recovers <= 20);
  bench.timeline->next_over = 700ms;
  bench.run_for(10s);
  const std::size_t before = bench.timeline->recovers;
  bench.run_for(7s);
  CHECK(bench.timeline->recovers - before >= 7);
}

TEST_CASE("a host that does not dispatch looks for what is left behind all the same") {
  Bench bench;
  bench.rule.source = ScheduleSettings{{"A"}, false, OnFailure::die, {}};
  bench.make();
  bench.timeline->put_on_timeline(10ms);
  bench.run_for(30s);
  CHECK(bench.timeline->late.empty());
  CHECK(bench.timeline->looks == 0);
  CHECK(bench.timeline->recovers >= 4);
}

TEST_CASE("HALT stops it, and its end is noticed within a second") {
  Bench bench;
  bench.timeline->halted = true;
  bench.timeline->put_on_timeline(10ms);
  bench.run_for(10s);
  CHECK(bench.timeline->late.empty());
  bench.timeline->halted = false;
  bench.run_for(1s);
  CHECK(bench.timeline->late.size() == 1);
}

TEST_CASE("the timefile has each second at most once") {
  Bench bench;
  bench.timeline->put_on_timeline(100s);
  bench.run_for(60s);
  CHECK(bench.noted.size() >= 50);
  CHECK(std::set(bench.noted.begin(), bench.noted.end()).size() == bench.noted.size());
}

TEST_CASE("a key of a wrong type is told once, asked again each second, and told when it is over") {
  Bench bench;
  bench.timeline->error = "WRONGTYPE";
  bench.run_for(10s);
  CHECK(bench.errors == std::vector<std::string>{"WRONGTYPE"});
  const std::size_t looks = bench.timeline->looks + bench.timeline->recovers;
  for (int i = 0; i < 100; ++i) {
    bench.timeline->handler.on_news(store::ScheduleNews::timeline);
    bench.run_for(10ms);
  }
  CHECK(bench.timeline->looks + bench.timeline->recovers <= looks + 3);
  bench.timeline->error.clear();
  bench.run_for(3s);
  CHECK(bench.errors == std::vector<std::string>{"WRONGTYPE", ""});
}

}  // namespace dispatcher_test

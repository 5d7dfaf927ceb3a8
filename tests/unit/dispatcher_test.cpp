// Dispatcher of due jobs, with a fake timeline.
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

TEST_CASE("a due job is dispatched within 1 ms, however far in the future it was") {
  Bench bench;
  bench.timeline->put_on_timeline(10ms);
  bench.timeline->put_on_timeline(3333ms);
  bench.timeline->put_on_timeline(1h);
  bench.run_for(2h);
  REQUIRE(bench.timeline->late.size() == 3);
  for (const Duration late : bench.timeline->late) CHECK(late <= 1ms);
}

TEST_CASE("a start with 1,000 timelines has few dispatch requests in flight at a time") {
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
          fake->reply_delay = 3ms;
          fake->out = &out;
          return fake;
        },
        [](const std::string&, store::UnixSeconds) {}, share(rule)));
  }
  world.run_for(2ms);
  CHECK(most <= IdlePolls::least_back);
  // The limit grows as replies arrive quickly.
  world.run_for(40ms);
  CHECK(out.replied >= 1000);
  CHECK(most <= IdlePolls::most_back);
}

TEST_CASE("a job added without a notification is dispatched within 400 ms") {
  Bench bench;
  bench.timeline->put_on_timeline(1h);
  bench.run_for(10s);
  bench.timeline->put_on_timeline(20ms, false);
  bench.run_for(1s);
  REQUIRE(bench.timeline->late.size() == 1);
  CHECK(bench.timeline->late[0] <= 400ms);
}

TEST_CASE("a report of a due job dispatches it at once") {
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

TEST_CASE("notifications that bring nothing earlier cause fewer and fewer dispatch requests") {
  Bench bench;
  bench.timeline->put_on_timeline(1h);
  bench.run_for(1s);
  const std::size_t before = bench.timeline->peeks;
  for (int i = 0; i < 1000; ++i) {
    bench.timeline->change_timeline(2h);
    bench.run_for(1ms);
  }
  // Dispatch requests: fewer and fewer at first, then three per second. Periodic requests count,
  // too.
  CHECK(bench.timeline->peeks - before <= 16);
  // An earlier job is found nevertheless. After that, notifications take effect at once again.
  bench.timeline->change_timeline(0s);
  bench.run_for(400ms);
  CHECK(bench.timeline->late.size() == 1);
  bench.timeline->change_timeline(0s);
  bench.run_for(15ms);
  CHECK(bench.timeline->late.size() == 2);
}

TEST_CASE("a dispatcher that is switched off ignores notifications") {
  Bench bench;
  bench.rule.source = ScheduleSettings{{"A"}, false, OnFailure::die, {}};
  bench.make();
  for (int i = 0; i < 100; ++i) {
    bench.timeline->change_timeline(-1s);
    bench.run_for(1ms);
  }
  CHECK(bench.timeline->peeks == 0);
  CHECK(bench.timeline->recovers <= 3);
}

TEST_CASE("1,000 jobs due at the same time are dispatched by consecutive calls") {
  Bench bench;
  for (int i = 0; i < 1000; ++i) bench.timeline->put_on_timeline(1s, false);
  bench.timeline->handler.on_news(store::ScheduleNews::timeline);
  bench.settle_down();
  const std::size_t looks = bench.timeline->peeks;
  bench.run_for(1001ms);
  CHECK(bench.timeline->late.size() == 1000);
  CHECK(bench.timeline->peeks <= looks + 10);
}

TEST_CASE("an idle timeline costs few commands, and jobs with expired claims are recovered") {
  Bench bench;
  bench.run_for(60s);
  CHECK(bench.timeline->peeks + bench.timeline->recovers <= 60 * 4 + 20);
  CHECK(bench.timeline->recovers >= 9);
  CHECK(bench.timeline->recovers <= 20);
  bench.timeline->next_over = 700ms;
  bench.run_for(10s);
  const std::size_t before = bench.timeline->recovers;
  bench.run_for(7s);
  CHECK(bench.timeline->recovers - before >= 7);
}

TEST_CASE("a dispatcher that is switched off still recovers jobs") {
  Bench bench;
  bench.rule.source = ScheduleSettings{{"A"}, false, OnFailure::die, {}};
  bench.make();
  bench.timeline->put_on_timeline(10ms);
  bench.run_for(30s);
  CHECK(bench.timeline->late.empty());
  CHECK(bench.timeline->peeks == 0);
  CHECK(bench.timeline->recovers >= 4);
}

TEST_CASE("HALT stops dispatching, which resumes within 1 s of its end") {
  Bench bench;
  bench.timeline->halted = true;
  bench.timeline->put_on_timeline(10ms);
  bench.run_for(10s);
  CHECK(bench.timeline->late.empty());
  bench.timeline->halted = false;
  bench.run_for(1s);
  CHECK(bench.timeline->late.size() == 1);
}

TEST_CASE("the timefile receives each second at most once") {
  Bench bench;
  bench.timeline->put_on_timeline(100s);
  bench.run_for(60s);
  CHECK(bench.noted.size() >= 50);
  CHECK(std::set(bench.noted.begin(), bench.noted.end()).size() == bench.noted.size());
}

TEST_CASE(
    "a key of a wrong type is reported once, retried each second, and reported when corrected") {
  Bench bench;
  bench.timeline->error = "WRONGTYPE";
  bench.run_for(10s);
  CHECK(bench.errors == std::vector<std::string>{"WRONGTYPE"});
  const std::size_t looks = bench.timeline->peeks + bench.timeline->recovers;
  for (int i = 0; i < 100; ++i) {
    bench.timeline->handler.on_news(store::ScheduleNews::timeline);
    bench.run_for(10ms);
  }
  CHECK(bench.timeline->peeks + bench.timeline->recovers <= looks + 3);
  bench.timeline->error.clear();
  bench.run_for(3s);
  CHECK(bench.errors == std::vector<std::string>{"WRONGTYPE", ""});
}

TEST_CASE("a list stops dispatching while another list with its key prefix dispatches") {
  Bench bench;
  bench.timeline->put_on_timeline(10ms);
  bench.timeline->put_on_timeline(100ms);
  bench.run_for(20ms);
  CHECK(bench.timeline->late.size() == 1);
  bench.rule.schedule().shared.dispatches = false;
  bench.dispatcher->use(share(bench.rule));
  bench.run_for(5s);
  CHECK(bench.timeline->late.size() == 1);
  bench.rule.schedule().shared.dispatches = true;
  bench.dispatcher->use(share(bench.rule));
  bench.run_for(1ms);
  CHECK(bench.timeline->late.size() == 2);
}

}  // namespace dispatcher_test

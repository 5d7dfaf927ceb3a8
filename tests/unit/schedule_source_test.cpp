// Source of scheduled jobs, with fake queues: when jobs are claimed.
#include <doctest/doctest.h>

#include "core/schedule_settings.hpp"
#include "fake_schedule.hpp"
#include "source/schedule/source.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace schedule_source_test {
namespace {

struct Bench : World {
  explicit Bench(unsigned concurrency = 1) {
    ListConfig rule = rule_for("mix", concurrency);
    rule.source = ScheduleSettings{{"A"}, true, OnFailure::die, {}};
    poller = std::make_unique<Poller>(PollerHost{clock, timers, places, *this}, share(rule));
    auto made = std::make_unique<source::ScheduleSource>(
        clock, idle, poller->source_handler(), [this](store::ScheduleQueueHandler& told) {
          auto fake = std::make_unique<FakeSchedule>(clock, timers, told);
          queues = fake.get();
          return fake;
        });
    poller->begin(std::move(made), make_executor(nullptr, {}, poller->run_handler()));
    run_for(5ms);
  }
  void enter(const std::string& job, bool told = true) {
    queues->jobs.push_back(job);
    if (told) queues->handler.on_news(store::ScheduleNews::queued);
    run_for(5ms);
  }

  SlotPool places{clock, 0};
  IdlePolls idle{timers, clock, 100, 7};
  FakeSchedule* queues = nullptr;
  std::unique_ptr<Poller> poller;
};

}  // namespace

TEST_CASE("a queued job is claimed at once and settled by its disposition") {
  Bench bench;
  CHECK(bench.queues->claim_calls == 1);
  CHECK(bench.queues->listening);
  bench.enter("feed:A");
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
  bench.executors.back()->end_at("run1", 0ms, Exited{1});
  bench.run_for(5ms);
  REQUIRE(bench.queues->ends.size() == 1);
  CHECK(std::holds_alternative<store::Die>(bench.queues->ends[0].what));
  CHECK(bench.queues->ends[0].failures == store::FailureCount::increment);
}

TEST_CASE("a job queued without a notification is found within 350 ms, for few commands") {
  Bench bench;
  bench.enter("feed:A", false);
  CHECK(bench.log.empty());
  bench.run_for(350ms);
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
  Bench idle;
  idle.run_for(60s);
  CHECK(idle.queues->claim_calls <= 60 * 4 + 2);
}

TEST_CASE("notifications without a job cause fewer and fewer claims") {
  Bench bench;
  bench.queues->claim_calls = 0;
  for (int i = 0; i < 1000; ++i) {
    bench.queues->handler.on_news(store::ScheduleNews::queued);
    bench.run_for(1ms);
  }
  CHECK(bench.queues->claim_calls < 20);
  bench.enter("feed:A");
  bench.run_for(700ms);
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
}

TEST_CASE("a notification that was delayed counts as one") {
  Bench bench;
  bench.run_for(5s);
  bench.queues->claim_calls = 0;
  for (int i = 0; i < 10'000; ++i) {
    bench.queues->handler.on_news(store::ScheduleNews::queued);
    bench.run_for(1ms);
  }
  // Up to six claims for the first notifications. After them, a claim is no more frequent than a
  // periodic poll of the idle budget.
  CHECK(bench.queues->claim_calls <= 6 + 10 * 1000 / 187);
}

TEST_CASE("a list whose slots are in use stays subscribed") {
  Bench bench;
  bench.enter("feed:A");
  bench.run_for(1s);
  bench.executors.back()->end_at("run1", 0ms, Exited{0});
  bench.run_for(20ms);
  CHECK(bench.queues->subscribed == 1);
  CHECK(bench.queues->listening);
}

TEST_CASE("a halted schedule is not claimed from, and continues within 1 s of the end") {
  Bench bench;
  bench.queues->halted = true;
  bench.enter("feed:A");
  CHECK(bench.log.empty());
  CHECK(bench.poller->state() == PollerState::idle);
  bench.run_for(5s);
  CHECK(bench.log.empty());
  bench.queues->halted = false;
  bench.run_for(1s);
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
}

TEST_CASE("a poller whose slots are in use ignores notifications") {
  Bench bench;
  bench.enter("feed:A");
  const std::size_t takes = bench.queues->claim_calls;
  for (int i = 0; i < 10; ++i) bench.enter("job:A");
  bench.run_for(10s);
  CHECK(bench.queues->claim_calls == takes);
  bench.executors.back()->end_at("run1", 0ms, Exited{0});
  bench.run_for(20ms);
  CHECK(count(bench.log, "start job:A") == 1);
}

}  // namespace schedule_source_test

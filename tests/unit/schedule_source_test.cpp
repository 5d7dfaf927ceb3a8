// When jobs are taken, with queues that are fakes.
#include <doctest/doctest.h>

#include "fakes.hpp"
#include "source/schedule/source.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace {

class FakeQueues : public store::JobQueues {
 public:
  FakeQueues(FakeClock& clock, TimerQueue& timers, store::JobQueuesHandler& told)
      : handler(told), clock_(clock), answer_(timers) {}

  void use(RulePtr) override {}
  void take(std::size_t wanted) override {
    ++takes;
    store::TakeReply reply;
    reply.end = halted ? ClaimEnd::paused : ClaimEnd::more;
    reply.next = next;
    while (!halted && !jobs.empty() && reply.claims.size() < wanted) {
      reply.claims.push_back(Claim{"run" + std::to_string(++runs), jobs.front(), {}, 1, 1});
      jobs.pop_front();
    }
    if (!halted && reply.claims.size() < wanted) reply.end = ClaimEnd::empty;
    answer_.set(clock_.now() + 1ms,
                [this, reply]() mutable { handler.on_taken(std::move(reply)); });
  }
  void listen(bool on) override { listening = on; }
  [[nodiscard]] bool hears() const override { return hears_others; }
  void settle(store::JobEnd&& end) override { ends.push_back(std::move(end)); }
  void hand_back(const Claim& claim) override { jobs.push_front(claim.item); }
  [[nodiscard]] bool may_start(const Claim&) const override { return true; }
  void announce(const RunEvent&) override {}
  [[nodiscard]] std::size_t unsettled() const override { return 0; }

  store::JobQueuesHandler& handler;
  std::deque<Item> jobs;
  std::vector<store::JobEnd> ends;
  std::optional<Duration> next;
  std::size_t takes = 0;
  unsigned runs = 0;
  bool halted = false;
  bool listening = false;
  bool hears_others = false;

 private:
  FakeClock& clock_;
  Timer answer_;
};

struct Bench : World {
  explicit Bench(unsigned concurrency = 1) {
    Rule rule = rule_for("mix", concurrency);
    rule.source = ScheduleSettings{{"A"}, true, OnFailure::die, {}};
    poller = std::make_unique<Poller>(PollerHost{clock, timers, places, *this}, share(rule));
    auto made = std::make_unique<source::ScheduleSource>(
        clock, idle, poller->source_handler(), [this](store::JobQueuesHandler& told) {
          auto fake = std::make_unique<FakeQueues>(clock, timers, told);
          queues = fake.get();
          return fake;
        });
    poller->begin(std::move(made), make_executor(nullptr, {}, poller->run_handler()));
    run_for(5ms);
  }
  void enter(const std::string& job, bool told = true) {
    queues->jobs.push_back(job);
    if (told) queues->handler.on_wake();
    run_for(5ms);
  }

  Places places{clock, 0};
  IdlePolls idle{timers, clock, 100, 7};
  FakeQueues* queues = nullptr;
  std::unique_ptr<Poller> poller;
};

}  // namespace

TEST_CASE("a job that is entered is taken at once, and its end is settled by its fate") {
  Bench bench;
  CHECK(bench.queues->takes == 1);
  CHECK(bench.queues->listening);
  bench.enter("feed:A");
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
  bench.executors.back()->end_at("run1", 0ms, Exited{1});
  bench.run_for(5ms);
  REQUIRE(bench.queues->ends.size() == 1);
  CHECK(std::holds_alternative<store::Die>(bench.queues->ends[0].fate));
  CHECK(bench.queues->ends[0].failures == store::FailureCount::increment);
}

TEST_CASE("what nobody told us of is found within a quarter of a second, for few commands") {
  Bench bench;
  bench.enter("feed:A", false);
  CHECK(bench.log.empty());
  bench.run_for(350ms);
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
  Bench idle;
  idle.run_for(60s);
  CHECK(idle.queues->takes <= 60 * 4 + 2);
  Bench hears;
  hears.queues->hears_others = true;
  hears.run_for(10s);
  hears.queues->takes = 0;
  hears.run_for(60s);
  CHECK(hears.queues->takes <= 60 / 2 + 2);
}

TEST_CASE("wakes in vain come less and less often") {
  Bench bench;
  bench.queues->takes = 0;
  for (int i = 0; i < 1000; ++i) {
    bench.queues->handler.on_wake();
    bench.run_for(1ms);
  }
  CHECK(bench.queues->takes < 20);
  bench.enter("feed:A");
  bench.run_for(700ms);
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
}

TEST_CASE("while it is halted nothing is taken, and it goes on within a second") {
  Bench bench;
  bench.queues->halted = true;
  bench.enter("feed:A");
  CHECK(bench.log.empty());
  CHECK(bench.poller->state() == PollerState::resting);
  bench.run_for(5s);
  CHECK(bench.log.empty());
  bench.queues->halted = false;
  bench.run_for(1s);
  CHECK(bench.log == std::vector<std::string>{"start feed:A"});
}

TEST_CASE("a poller that has what it wants hears of nothing") {
  Bench bench;
  bench.enter("feed:A");
  const std::size_t takes = bench.queues->takes;
  for (int i = 0; i < 10; ++i) bench.enter("job:A");
  bench.run_for(10s);
  CHECK(bench.queues->takes == takes);
  bench.executors.back()->end_at("run1", 0ms, Exited{0});
  bench.run_for(20ms);
  CHECK(count(bench.log, "start job:A") == 1);
}

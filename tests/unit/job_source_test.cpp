// Source of feed jobs, with a fake queue: claims and dispositions.
#include <doctest/doctest.h>

#include <deque>

#include "core/job_settings.hpp"
#include "fakes.hpp"
#include "source/job/disposition.hpp"
#include "source/job/source.hpp"
#include "source/job/upkeep.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace w8y::store::thoonk;
using namespace std::chrono_literals;

namespace job_source_test {
namespace {

class FakeJobs : public JobQueue {
 public:
  FakeJobs(FakeClock& clock, TimerQueue& timers, JobQueueHandler& told)
      : handler(told), clock_(clock), answer_(timers) {}

  void use(ListConfigPtr) override {}
  void claim(std::size_t wanted) override {
    ++takes;
    ClaimReply reply;
    reply.end = end;
    reply.detail = detail;
    if (end == ClaimEnd::more) {
      while (!jobs.empty() && reply.claims.size() < wanted) {
        reply.claims.push_back(Claim{"run" + std::to_string(++runs), jobs.front(), {}, 1, 1});
        jobs.pop_front();
      }
      if (reply.claims.size() < wanted) reply.end = ClaimEnd::empty;
    }
    answer_.set(clock_.now() + 1ms,
                [this, reply]() mutable { handler.on_claimed(std::move(reply)); });
  }
  void listen(bool on) override { listening = on; }
  [[nodiscard]] bool hears() const override { return receives_all; }
  double track() override {
    if (!receives_all) return 0;
    ++peeks;
    return 1;
  }
  void settle(JobSettlement&& end_of_run) override { ends.push_back(std::move(end_of_run)); }
  void hand_back(const Claim& claim) override {
    jobs.push_front(claim.item);
    ++handed_back;
  }
  [[nodiscard]] bool may_start(const Claim&) const override { return true; }
  void announce(const RunEvent&) override {}
  [[nodiscard]] std::size_t unsettled() const override { return 0; }
  void retire() override { retired = true; }

  JobQueueHandler& handler;
  ClaimEnd end = ClaimEnd::more;
  std::string detail;
  bool receives_all = false;
  bool listening = false;
  bool retired = false;
  std::deque<Item> jobs;
  std::vector<JobSettlement> ends;
  std::size_t takes = 0;
  std::size_t peeks = 0;
  unsigned runs = 0;
  std::size_t handed_back = 0;

 private:
  FakeClock& clock_;
  Timer answer_;
};

struct Bench : World {
  explicit Bench(std::uint32_t concurrency = 1) {
    ListConfig rule = rule_for("thumbs", concurrency);
    rule.source = JobSettings{};
    poller = std::make_unique<Poller>(PollerHost{clock, timers, places, *this}, share(rule));
    auto made = std::make_unique<source::JobSource>(
        clock, idle, poller->source_handler(), [this](JobQueueHandler& told) {
          auto fake = std::make_unique<FakeJobs>(clock, timers, told);
          queue = fake.get();
          return fake;
        });
    poller->begin(std::move(made), make_executor(nullptr, {}, poller->run_handler()));
    run_for(5ms);
  }
  void put(const std::string& id, bool told = true) {
    queue->jobs.push_back(id);
    if (told) queue->handler.on_news();
    run_for(5ms);
  }

  SlotPool places{clock, 0};
  IdlePolls idle{timers, clock, 100, 7};
  FakeJobs* queue = nullptr;
  std::unique_ptr<Poller> poller;
};

}  // namespace

TEST_CASE("a new job of a feed is claimed at once and settled by its disposition") {
  Bench bench;
  CHECK(bench.queue->takes == 1);
  CHECK(bench.queue->listening);
  bench.put("a");
  CHECK(bench.log == std::vector<std::string>{"start a"});
  bench.executors.back()->end_at("run1", 0ms, Exited{0});
  bench.run_for(5ms);
  REQUIRE(bench.queue->ends.size() == 1);
  CHECK(std::get<Finish>(bench.queue->ends[0].what).result == "{}");
}

TEST_CASE("a job that is reported twice is claimed once, without a cost for idle lists") {
  Bench bench;
  FakeJobs& queue = *bench.queue;
  queue.receives_all = true;
  // The budget of idle lists is 100 commands per second.
  for (unsigned i = 1; i <= 300; ++i) {
    const std::size_t takes = queue.takes;
    queue.jobs.push_back("j");
    queue.handler.on_added();
    // The second report arrives during the claim or after it.
    if (i % 2 == 0) bench.run_for(2ms);
    queue.handler.on_news();
    bench.run_for(2ms);
    CHECK(queue.takes == takes + 1);
    REQUIRE(queue.runs == i);
    bench.executors.back()->end_at("run" + std::to_string(i), 0ms, Exited{0});
    bench.run_for(2ms);
  }
  // Any client can send any number of reports: further ones cause claims at increasing intervals.
  const std::size_t peeks = queue.peeks;
  const std::size_t takes = queue.takes;
  for (int i = 0; i < 1000; ++i) {
    queue.handler.on_news();
    bench.run_for(1ms);
  }
  CHECK(queue.peeks - peeks < 20);
  CHECK(queue.takes - takes < 20);
  struct Poll final : IdlePolls::Sleeper {
    using Sleeper::Sleeper;
    void poll_due(bool, double) override {}
    void back_due() override {}
  };
  CHECK(Poll(bench.idle).has_spare());
}

TEST_CASE("very short jobs are prefetched, one with few slots, and handed back during a long run") {
  for (const std::size_t concurrency : {1U, 15U, 16U}) {
    CAPTURE(concurrency);
    Bench bench(static_cast<std::uint32_t>(concurrency));
    auto& executor = *bench.executors.back();
    const auto run_all = [&] {
      const auto started = executor.started;
      for (std::size_t i = started.size() - bench.poller->runs().size(); i < started.size(); ++i)
        executor.end_at(started[i].run, 1ms, Exited{0});
      bench.run_for(2ms);
    };
    for (int i = 0; i < 200; ++i) bench.queue->jobs.push_back("j" + std::to_string(i));
    bench.queue->handler.on_news();
    bench.run_for(5ms);
    run_all();
    run_all();
    CHECK(bench.poller->runs().size() == concurrency);
    const auto held = [&] { return bench.queue->runs - bench.queue->ends.size(); };
    CHECK(held() == concurrency + (concurrency < 16 ? 1 : concurrency));
    const std::size_t waiting = bench.queue->jobs.size();
    bench.run_for(200ms);
    CHECK(bench.queue->jobs.size() > waiting);
    CHECK(bench.queue->jobs.size() == 200 - bench.queue->ends.size() - concurrency);
  }
}

TEST_CASE("during runs that take less than half of a claim, jobs are claimed for all their slots") {
  for (const std::size_t concurrency : {1U, 4U}) {
    CAPTURE(concurrency);
    Bench bench(static_cast<std::uint32_t>(concurrency));
    FakeJobs& queue = *bench.queue;
    const auto held = [&] { return queue.runs - queue.ends.size() - queue.handed_back; };
    const auto end_all = [&] {
      const auto started = bench.executors.back()->started;
      for (std::size_t i = started.size() - bench.poller->runs().size(); i < started.size(); ++i)
        bench.executors.back()->end_at(started[i].run, Duration{0}, Exited{0});
    };
    for (int i = 0; i < 400; ++i) queue.jobs.push_back("j" + std::to_string(i));
    queue.handler.on_news();
    for (int i = 0; i < 300; ++i) {
      bench.run_for(100us);
      CHECK(held() <= 2 * concurrency + 1);  // also jobs of the claim in flight
      end_all();
    }
    CHECK(queue.handed_back == 0);
    CHECK(queue.ends.size() > 20 * concurrency);
    CHECK(queue.takes * (concurrency + 1) < queue.ends.size() + 20);

    // If the runs take longer than expected, the host keeps one job that has no slot.
    bench.run_for(50ms);
    CHECK(bench.poller->runs().size() == concurrency);
    CHECK(held() == concurrency + 1);
    CHECK(queue.handed_back > 0);
    bench.run_for(200ms);
    CHECK(held() == concurrency);
  }
}

TEST_CASE("a new job of a feed is claimed at once, even if the idle budget is used up") {
  Bench bench;
  struct Spender final : IdlePolls::Sleeper {
    using Sleeper::Sleeper;
    void poll_due(bool, double) override {}
    void back_due() override {}
  };
  Spender(bench.idle).charge(10'000);
  bench.put("a");
  CHECK(bench.log == std::vector<std::string>{"start a"});
}

TEST_CASE(
    "a feed is polled for jobs without notification, and rarely with complete notifications") {
  Bench bench;
  bench.put("a", false);
  bench.run_for(350ms);
  CHECK(bench.log == std::vector<std::string>{"start a"});
  Bench idle;
  idle.run_for(60s);
  CHECK(idle.queue->takes <= 60 * 4 + 2);
  Bench hearing;
  hearing.queue->receives_all = true;
  hearing.run_for(60s);
  CHECK(hearing.queue->takes <= 60 / 2 + 2);
}

TEST_CASE("a feed of another kind is refused with a reason, and claimed from again") {
  Bench bench;
  bench.queue->end = ClaimEnd::refused;
  bench.queue->detail = "it is a queue";
  bench.put("a");
  CHECK(bench.poller->last_claim() == ClaimEnd::refused);
  CHECK(bench.poller->detail() == "it is a queue");
  CHECK(bench.log.empty());
  bench.queue->end = ClaimEnd::more;
  bench.run_for(1s);
  CHECK(bench.log == std::vector<std::string>{"start a"});
}

TEST_CASE("a feed whose list is removed retires its queue") {
  Bench bench;
  bench.poller->drain();
  bench.run_for(5ms);
  CHECK(bench.queue->retired);
  CHECK_FALSE(bench.queue->listening);
  CHECK(bench.poller->state() == PollerState::drained);
}

// Disposition of a feed job.

namespace {

struct Ended {
  ListConfig rule;
  RunEnd end;
  std::optional<StopReason> stopped;
  unsigned attempt = 1;

  Ended() {
    rule.source = JobSettings{};
    rule.command = {"x"};
    end.process = Exited{0};
  }
  explicit Ended(ProcessEnd process) : Ended() { end.process = std::move(process); }
  [[nodiscard]] JobDisposition disposed() const {
    EndedRun run;
    run.claim.attempt = attempt;
    run.rule = std::make_shared<const ListConfig>(rule);
    run.outcome = outcome_of(rule, end, stopped);
    run.end = end;
    return source::dispose_of_feed_job(run);
  }
  template <class Kind>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<Kind>(disposed());
  }
};

}  // namespace

TEST_CASE("a feed job that succeeded is finished with the last result of its executor") {
  Ended run;
  CHECK(std::get<Finish>(run.disposed()).result == "{}");
  run.end.complete = Complete{R"({"size":3})", {}, {}, {}, {}, {}};
  CHECK(std::get<Finish>(run.disposed()).result == R"({"size":3})");
}

TEST_CASE("a feed job that failed is cancelled after its backoff, and stalled after max_failures") {
  Ended run(Exited{3});
  CHECK(std::get<Cancel>(run.disposed()).after == 1s);
  run.attempt = 3;
  CHECK(std::get<Cancel>(run.disposed()).after == 4s);
  run.rule.max_failures = 4;
  CHECK(run.is<Cancel>());
  run.attempt = 4;
  CHECK(std::get<Stall>(run.disposed()).why == "4 consecutive failures, the last: exit status 3");
  run.attempt = 9;
  CHECK(run.is<Stall>());
  run.attempt = 1;
  run.rule.backoff.reset();
  CHECK(std::get<Cancel>(run.disposed()).after == 0s);
  // A job whose run cannot start is not retried in a tight loop.
  run.end.process = NotStarted{"its id contains a NUL byte", true};
  CHECK(std::get<Cancel>(run.disposed()).after == 1s);
  // The executor reports the failure itself.
  Ended said;
  said.end.complete = Complete{R"({"error":"no"})", "no", {}, {}, {}, {}};
  CHECK(said.is<Cancel>());
  for (const StopReason late : {StopReason::timeout, StopReason::progress_timeout}) {
    Ended timed_out(Signalled{15});
    timed_out.stopped = late;
    CHECK(timed_out.is<Cancel>());
  }
}

TEST_CASE("a feed job whose run was stopped or never started has not failed") {
  Ended drained(Signalled{15});
  drained.stopped = StopReason::shutdown;
  CHECK(drained.is<PutBack>());
  Ended by_operator(Signalled{15});
  by_operator.stopped = StopReason::cancelled;
  CHECK(by_operator.is<Requeue>());
  Ended lost(Signalled{9});
  lost.stopped = StopReason::lease_lost;
  CHECK(lost.is<Leave>());
  CHECK(Ended(Unanswered{"ended for another", true}).is<PutBack>());
  CHECK(Ended(NotStarted{"no processes", false, true}).is<PutBack>());
  CHECK(Ended(NotStarted{"no program", false, false, true}).is<PutBack>());
}

// Maintenance of a feed.

namespace {

struct FakeCare : JobCare {
  FakeCare(FakeClock& time, TimerQueue& timers, JobCareHandler& told)
      : handler(told), clock(time), answer(timers) {}
  void use(ListConfigPtr) override {}
  void recover() override {
    ++recovers;
    answer.set(clock.now() + 1ms, [this] { handler.on_recovered(next_over); });
  }
  void maintain() override {
    maintained_at.push_back(clock.now());
    answer.set(clock.now() + 1ms, [this] { handler.on_maintained(result, error); });
  }

  JobCareHandler& handler;
  FakeClock& clock;
  Timer answer;
  std::optional<Duration> next_over;
  MaintenanceResult result;
  std::string error;
  std::size_t recovers = 0;
  std::vector<Instant> maintained_at;
};

struct CareBench : World, ListMaintenanceHandler {
  CareBench() {
    ListConfig rule = rule_for("thumbs");
    rule.source = JobSettings{0s, 60s};
    maintenance = std::make_unique<source::JobUpkeep>(
        clock, idle, *this,
        [this](JobCareHandler& told) {
          auto fake = std::make_unique<FakeCare>(clock, timers, told);
          care = fake.get();
          return fake;
        },
        share(rule));
    run_for(5ms);
  }
  void on_maintenance_error(const std::string& why) override { errors.push_back(why); }

  IdlePolls idle{timers, clock, 100, 7};
  FakeCare* care = nullptr;
  std::vector<std::string> errors;
  std::unique_ptr<source::JobUpkeep> maintenance;
};

}  // namespace

TEST_CASE("claims of unresponsive hosts in a feed are recovered when their leases expire") {
  CareBench bench;
  CHECK(bench.care->recovers == 1);
  bench.run_for(60s);
  CHECK(bench.care->recovers >= 12);
  CHECK(bench.care->recovers <= 14);
  bench.care->next_over = 700ms;
  bench.run_for(6s);
  bench.care->recovers = 0;
  bench.run_for(7s);
  CHECK(bench.care->recovers >= 9);
  CHECK(bench.care->recovers <= 11);
  bench.care->recovers = 0;
  bench.care->handler.on_back();
  bench.run_for(5ms);
  CHECK(bench.care->recovers == 1);
}

TEST_CASE("a feed is maintained once per interval, and later if another host has done it") {
  CareBench bench;
  bench.run_for(3min);
  CHECK(bench.care->maintained_at.size() == 3);
  CHECK(bench.care->maintained_at[1] - bench.care->maintained_at[0] >= 60s);
  bench.care->result.next = 10s;
  bench.run_for(65s);
  bench.care->maintained_at.clear();
  bench.run_for(60s);
  CHECK(bench.care->maintained_at.size() >= 5);
  bench.care->error = "it is a queue";
  bench.run_for(30s);
  CHECK(bench.errors == std::vector<std::string>{"it is a queue"});
  bench.care->error.clear();
  bench.run_for(30s);
  CHECK(bench.errors == std::vector<std::string>{"it is a queue", ""});
}

}  // namespace job_source_test

#include <doctest/doctest.h>

#include "poller_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a poller runs as many items as its limit, each item once") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"a", "b", "c"};
  bench.begin();
  CHECK(bench.poller->runs().size() == 2);
  CHECK(bench.poller->state() == PollerState::full);
  bench.end("run1", Exited{0});
  CHECK(bench.log == std::vector<std::string>{"start a", "start b", "succeeded a", "start c"});
  CHECK(bench.poller->counters().succeeded == 1);
}

TEST_CASE(
    "a poller without a free item is idle, and continues when one of its runs frees an item") {
  Bench bench(rule_for("work", 3));
  bench.redis.lists["work"] = {"a"};
  bench.begin();
  CHECK(bench.poller->state() == PollerState::idle);
  CHECK(bench.poller->last_claim() == ClaimEnd::nothing_free);
  bench.end("run1", Exited{0});
  CHECK(bench.executor().started.size() == 2);
}

TEST_CASE("an idle list subscribes to wake-ups, and a list with all slots in use unsubscribes") {
  Bench bench(rule_for("work", 1));
  bench.begin();
  CHECK(bench.source().listens);
  bench.redis.lists["work"] = {"a", "b"};
  bench.run_for(400ms);
  CHECK(bench.poller->runs().size() == 1);
  CHECK_FALSE(bench.source().listens);
  bench.redis.lists["work"] = {};
  bench.end("run1", Exited{0});
  bench.run_for(400ms);
  CHECK(bench.source().listens);
}

TEST_CASE("an idle list is polled, but not more often than the budget allows") {
  Bench bench(rule_for("work"));
  bench.begin();
  CHECK(bench.poller->last_claim() == ClaimEnd::empty);
  bench.run_for(10s);
  CHECK(bench.redis.claims == 1);
  CHECK(bench.redis.peeks >= 30);
  CHECK(bench.redis.peeks <= 60);
  bench.redis.lists["work"] = {"a"};
  bench.run_for(400ms);
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("a poller claims at once after a reconnect") {
  Bench bench(rule_for("work"));
  bench.begin();
  bench.redis.lists["work"] = {"a"};
  bench.source().handler.on_back();
  bench.settle_down();
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("a failing item is delayed longer each time, then quarantined") {
  ListConfig rule = rule_for("work");
  rule.backoff = Backoff{1s, 5min, 2.0};
  rule.max_failures = 3;
  Bench bench(rule);
  bench.redis.lists["work"] = {"bad"};
  bench.begin();
  bench.end("run1", Exited{1});
  CHECK(std::get<store::RestFor>(bench.redis.history.back().rest).time == 1s);
  bench.run_for(1300ms);
  bench.end("run2", Exited{1});
  CHECK(std::get<store::RestFor>(bench.redis.history.back().rest).time == 2s);
  bench.run_for(2300ms);
  bench.end("run3", Signalled{11});
  CHECK(std::holds_alternative<store::Quarantine>(bench.redis.history.back().rest));
  bench.run_for(1h);
  CHECK(bench.executor().started.size() == 3);
  CHECK(bench.redis.failures["workbad"] == 3);
}

TEST_CASE("timeout and progress_timeout stop a run, and the first reason counts") {
  ListConfig rule = rule_for("work", 2);
  rule.timeout = 10s;
  rule.progress_timeout = 3s;
  Bench bench(rule);
  bench.redis.lists["work"] = {"silent", "chatty"};
  bench.begin();
  for (int i = 0; i < 6; ++i) {
    bench.run_for(2s);
    bench.executor().handler.on_message("run2", Progress{1, 2});
  }
  std::map<Item, bool> by_silence;
  for (const auto& settlement : bench.redis.history)
    by_silence.emplace(settlement.claim.item, std::get<TimedOut>(settlement.outcome).silent);
  CHECK(by_silence == std::map<Item, bool>{{"silent", true}, {"chatty", false}});
}

TEST_CASE("a bad line does not count as progress, and is counted") {
  ListConfig rule = rule_for("work");
  rule.progress_timeout = 3s;
  Bench bench(rule);
  bench.redis.lists["work"] = {"a"};
  bench.begin();
  for (int i = 0; i < 4; ++i) {
    bench.executor().handler.on_message("run1", BadLine{"no JSON"});
    bench.run_for(1s);
  }
  CHECK(bench.executor().stopped == std::vector<RunId>{"run1"});
  CHECK(bench.poller->counters().bad_lines >= 3);
}

TEST_CASE("progress is published at a limited rate, the latest value always") {
  Bench bench(rule_for("work"));
  bench.redis.lists["work"] = {"a"};
  bench.begin();
  for (int i = 1; i <= 1000; ++i)
    bench.executor().handler.on_message("run1", Progress{1.0 * i, 1000});
  bench.run_for(99ms);
  CHECK(bench.source().events.size() == 2);  // start and first progress
  bench.executor().handler.on_message("run1", Progress{1001, 1001});
  bench.end("run1", Exited{0});
  REQUIRE(bench.source().events.size() >= 3);
  CHECK(bench.source().events[2].progress.numerator == 1001);
}

TEST_CASE("a draining poller starts nothing, finishes its runs, and is then drained") {
  Bench bench(rule_for("work"));
  bench.redis.lists["work"] = {"a", "b"};
  bench.begin();
  bench.poller->drain();
  bench.run_for(1min);
  CHECK(bench.poller->state() == PollerState::draining);
  bench.end("run1", Exited{0});
  CHECK(bench.poller->drained());
  CHECK(bench.executor().started.size() == 1);
}

TEST_CASE("a run is settling until Redis has confirmed its settlement") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"a", "b"};
  bench.begin();
  bench.end("run1", Exited{0});
  CHECK(bench.poller->settling().empty());
  bench.redis.settles = false;
  bench.end("run2", Exited{0});
  REQUIRE(bench.poller->settling().size() == 1);
  CHECK(bench.poller->settling().front().run == "run2");
  CHECK(bench.poller->settling().front().item.beginning == "b");
}

TEST_CASE("items claimed after the host became quiet are handed back") {
  Bench bench(rule_for("work"));
  bench.redis.lists["work"] = {"a"};
  auto source = bench.make_source(nullptr, bench.idle, bench.poller->source_handler());
  bench.poller->begin(std::move(source),
                      bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  bench.poller->set_quiet(true);
  bench.settle_down();
  CHECK(bench.source().handed_back == 1);
  CHECK(bench.executors.back()->started.empty());
  CHECK(bench.poller->state() == PollerState::held);
  bench.poller->set_quiet(false);
  bench.settle_down();
  CHECK(bench.executors.back()->started.size() == 1);
}

TEST_CASE("items claimed for slots that a reload has removed are handed back") {
  Bench bench(rule_for("work", 3));
  bench.redis.lists["work"] = {"a", "b", "c"};
  auto source = bench.make_source(nullptr, bench.idle, bench.poller->source_handler());
  bench.poller->begin(std::move(source),
                      bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  REQUIRE(bench.poller->claim_is_out());
  bench.poller->use(share(rule_for("work", 2)),
                    bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  bench.settle_down();
  CHECK(bench.poller->runs().size() == 2);
  CHECK(bench.source().handed_back == 1);
  CHECK(locked(bench) == 2);
  CHECK(bench.places.used() == 2);
  CHECK(bench.poller->counters().claimed == 2);
  CHECK(bench.poller->state() == PollerState::full);
}

namespace {

/// Source whose server frees an item only after the end of all its other items.
struct SlowlyFreed final : Source {
  explicit SlowlyFreed(SourceHandler& handler) : told(handler) {}
  void use(ListConfigPtr) override {}
  [[nodiscard]] bool may_claim() const override { return true; }
  void claim(std::size_t number) override { wanted = number; }
  void stop_waiting() override {}
  void retire() override {}
  void settle(EndedRun&&) override {}
  void hand_back(const Claim&) override { ++handed_back; }
  [[nodiscard]] bool frees_at_once() const override { return false; }
  [[nodiscard]] bool may_start(const Claim&) const override { return true; }
  void announce(const RunEvent&) override {}
  [[nodiscard]] std::size_t unsettled() const override { return 0; }
  void give() {
    ClaimReply reply;
    for (std::size_t i = 0; i < wanted; ++i)
      reply.claims.push_back({RunId("run" + std::to_string(i + 1)), {}, {}, std::nullopt, 1});
    told.on_claimed(std::move(reply));
  }

  SourceHandler& told;
  std::size_t wanted = 0;
  std::size_t handed_back = 0;
};

}  // namespace

TEST_CASE("an item that would not be free at once waits for the next slot instead") {
  Bench bench(rule_for("work", 3));
  auto made = std::make_unique<SlowlyFreed>(bench.poller->source_handler());
  SlowlyFreed& source = *made;
  bench.poller->begin(std::move(made),
                      bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  REQUIRE(source.wanted == 3);
  FakeExecutor& before = bench.executor();
  bench.poller->use(share(rule_for("work", 2)),
                    bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  source.give();
  bench.run_for(10s);
  CHECK(bench.poller->runs().size() == 2);
  CHECK(source.handed_back == 0);
  SUBCASE("it is the next to run") {
    bench.end("run1", Exited{0});
    CHECK(bench.poller->runs().size() == 2);
    CHECK(bench.poller->runs().find("run3") != nullptr);
  }
  SUBCASE("it is handed back if the host becomes quiet") {
    bench.poller->set_quiet(true);
    CHECK(source.handed_back == 1);
  }
  CHECK(before.started.empty());
}

TEST_CASE("a poller keeps the time of the last run that succeeded") {
  Bench bench(rule_for("work"));
  bench.redis.lists["work"] = {"a"};
  bench.begin();
  CHECK(bench.poller->measures().last_success == WallTime{0});
  const auto end_run = [&](int status) {
    REQUIRE(bench.poller->runs().size() == 1);
    bench.end(bench.executor().started.back().run, Exited{status});
    return bench.clock.wall();
  };
  const WallTime success = end_run(0);
  CHECK(bench.poller->measures().last_success == success);
  bench.run_for(1min);
  end_run(1);
  CHECK(bench.poller->measures().last_success == success);
  RunStats sum;
  sum += bench.poller->measures();
  sum += RunStats{};
  CHECK(sum.last_success == success);
}

TEST_CASE("the first claim is counted like all others") {
  Bench bench(rule_for("work"));
  bench.redis.lists["work"] = {"a"};
  bench.begin();
  CHECK(bench.poller->measures().claim_ends[0] == 1);
  CHECK(bench.poller->counters().claimed == 1);
}

TEST_CASE("a changed list config applies to the next run, and active runs keep the old one") {
  Bench bench(rule_for("work"));
  bench.redis.lists["work"] = {"a", "b", "c"};
  bench.begin();
  FakeExecutor& before = bench.executor();
  ListConfig rule = rule_for("work", 2);
  rule.timeout = 1s;
  bench.poller->use(share(rule), bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  bench.run_for(500ms);
  CHECK(bench.poller->runs().size() == 2);
  CHECK(before.rules["run1"]->timeout == 0s);
  CHECK(bench.executor().rules["run2"]->timeout == 1s);
  bench.run_for(2s);
  CHECK(before.stopped.empty());
}

TEST_CASE("a poller claims up to the capacity of its executor, and retires an old executor") {
  Bench bench(rule_for("work", 5));
  bench.redis.lists["work"] = {"a", "b", "c", "d", "e"};
  auto source = bench.make_source(nullptr, bench.idle, bench.poller->source_handler());
  auto executor = bench.make_executor(nullptr, {}, bench.poller->run_handler());
  FakeExecutor& first = bench.executor();
  first.most = 2;
  bench.poller->begin(std::move(source), std::move(executor));
  bench.settle_down();
  CHECK(bench.poller->runs().size() == 2);
  CHECK(bench.poller->state() == PollerState::full);

  bench.poller->use(share(rule_for("work", 5)),
                    bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  bench.settle_down();
  CHECK(first.retired);
  CHECK(bench.poller->runs().size() == 5);
  CHECK(bench.executor().started.size() == 3);
  CHECK_FALSE(bench.executor().retired);
  bench.poller->drain();
  CHECK(bench.executor().retired);
}

TEST_CASE("events of a process outside its runs are passed on, and bad lines are counted") {
  Bench bench(rule_for("work"));
  bench.begin();
  bench.poller->run_handler().on_process(7, ProcessBadLine{"no id", 1});
  bench.poller->run_handler().on_process(7, ProcessEnded{"exit 0", false, 1});
  CHECK(bench.poller->counters().bad_lines == 1);
  CHECK(count(bench.log, "process 7") == 2);
}

TEST_CASE("a run whose lease is lost continues or is killed, depending on on_lease_loss") {
  ListConfig rule = rule_for("work");
  SUBCASE("continue: the run continues") {
    Bench bench(rule);
    bench.redis.lists["work"] = {"a"};
    bench.begin();
    bench.source().handler.on_lease_expiring("run1");
    bench.source().handler.on_lease_lost("run1");
    bench.settle_down();
    CHECK(bench.executor().killed.empty());
    CHECK(bench.poller->counters().leases_lost == 1);
    CHECK(count(bench.log, "lease lost a") == 1);
    bench.source().handler.on_lease_back("run1");
    CHECK(count(bench.log, "lease back a") == 1);
  }
  SUBCASE("terminate: the run is killed before the lease expires") {
    rule.on_lease_loss = OnLeaseLoss::terminate;
    Bench bench(rule);
    bench.redis.lists["work"] = {"a"};
    bench.begin();
    bench.source().handler.on_lease_expiring("run1");
    bench.settle_down();
    CHECK(bench.executor().killed == std::vector<RunId>{"run1"});
    CHECK(count(bench.log, "lost a") == 1);
    CHECK(bench.redis.failures["worka"] == 0);
  }
}

TEST_CASE("a poller with a budget of one run starts one run") {
  Bench bench(rule_for("work"));
  bench.poller->set_budget(1);
  bench.redis.lists["work"] = {"a", "b"};
  bench.begin();
  bench.end("run1", Exited{0});
  bench.run_for(10s);
  CHECK(bench.executor().started.size() == 1);
}

TEST_CASE("slots of the host are shared by weight, and each list gets some") {
  World world;
  world.runs_take = 10ms;
  SlotPool places(world.clock, 4);
  IdlePolls idle{world.timers, world.clock, 100, 7};
  ListConfig heavy = rule_for("heavy", 10);
  heavy.weight = 3;
  std::vector<std::unique_ptr<Poller>> pollers;
  std::map<std::string, std::size_t> most;
  for (const ListConfig& rule : {heavy, rule_for("light", 10)}) {
    for (int i = 0; i < 50; ++i) world.redis.lists[rule.prefix].push_back(std::to_string(i));
    pollers.push_back(std::make_unique<Poller>(PollerHost{world.clock, world.timers, places, world},
                                               share(rule)));
    auto& poller = *pollers.back();
    poller.begin(world.make_source(nullptr, idle, poller.source_handler()),
                 world.make_executor(nullptr, {}, poller.run_handler()));
  }
  world.run_for(1s);
  CHECK(places.used() <= 4);
  const auto heavy_runs = pollers[0]->counters().succeeded;
  const auto light_runs = pollers[1]->counters().succeeded;
  CHECK(light_runs > 50);
  CHECK(heavy_runs > 2 * light_runs);
  CHECK(heavy_runs < 4 * light_runs);
}

TEST_CASE("a weight changed while claims are in flight applies from then on, and loses no slot") {
  World world;
  world.runs_take = 10ms;
  world.redis.claim_takes = 20ms;  // longer than the runs: a claim is nearly always in flight
  SlotPool places(world.clock, 4);
  IdlePolls idle{world.timers, world.clock, 100, 7};
  std::vector<std::unique_ptr<Poller>> pollers;
  for (const ListConfig& rule : {rule_for("one", 10), rule_for("other", 10)}) {
    for (int i = 0; i < 50; ++i) world.redis.lists[rule.prefix].push_back(std::to_string(i));
    pollers.push_back(std::make_unique<Poller>(PollerHost{world.clock, world.timers, places, world},
                                               share(rule)));
    auto& poller = *pollers.back();
    poller.begin(world.make_source(nullptr, idle, poller.source_handler()),
                 world.make_executor(nullptr, {}, poller.run_handler()));
  }
  const auto share_of_one = [&] {
    const auto one = pollers[0]->counters().succeeded;
    const auto other = pollers[1]->counters().succeeded;
    world.run_for(2s);
    const auto ones = static_cast<double>(pollers[0]->counters().succeeded - one);
    const auto others = static_cast<double>(pollers[1]->counters().succeeded - other);
    CHECK(places.used() <= 4);
    return ones / (ones + others);
  };
  const double before = share_of_one();
  CHECK(before > 0.4);
  CHECK(before < 0.6);
  for (int i = 0; i < 1000 && world.redis.claims_out == 0; ++i) world.run_for(1ms);
  REQUIRE(world.redis.claims_out > 0);
  ListConfig heavy = rule_for("one", 10);
  heavy.weight = 3;
  pollers[0]->use(share(heavy), world.make_executor(nullptr, {}, pollers[0]->run_handler()));
  const double after = share_of_one();
  CHECK(after > 0.65);
  CHECK(after < 0.85);
}

TEST_CASE("a poller continues after an outage of Redis") {
  Bench bench(rule_for("work"));
  bench.redis.lists["work"] = {"a"};
  bench.redis.reachable = false;
  bench.begin();
  bench.run_for(1min);
  CHECK(bench.poller->last_claim() == ClaimEnd::unavailable);
  bench.redis.reachable = true;
  bench.source().handler.on_back();
  bench.settle_down();
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("a replaced executor is not destroyed during the end of its last run") {
  Bench bench(rule_for("work"));
  bench.keep_executors = false;
  bench.redis.lists["work"] = {"a"};
  bench.begin();
  FakeExecutor& old = bench.executor();
  bench.poller->use(share(rule_for("work")),
                    bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  old.end_at("run1", Duration{0}, Exited{0});  // aborts if destroyed before it returns
  bench.settle_down();
  CHECK(bench.ended == 1);
}

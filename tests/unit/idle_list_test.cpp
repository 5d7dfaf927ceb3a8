// Poller while its list is idle.
#include "idle_list.hpp"

#include <doctest/doctest.h>

#include "core/circular_settings.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE(
    "a list with only locked items is peeked at, and claimed from when an item becomes free") {
  IdlePollerBench bench(rule_for("work"), 20);
  bench.lock(0, 20);
  bench.begin();
  CHECK(bench.scans() == Scans{whole});
  bench.run_for(10s);
  CHECK(bench.scans().empty());
  CHECK(bench.redis.peeks >= 30);
  bench.unlock(7);
  bench.run_for(400ms);
  CHECK(bench.scans() == Scans{ends});
  CHECK(bench.log == std::vector<std::string>{"start 7"});
}

TEST_CASE("a free item in the middle of a long list is found by a second, full scan") {
  IdlePollerBench bench(rule_for("work"), 20);
  bench.redis.ends = 4;
  bench.lock(0, 20);
  bench.begin();
  bench.scans();
  bench.unlock(12);
  bench.run_for(1s);
  CHECK(bench.scans() == Scans{ends, whole});
  CHECK(bench.log == std::vector<std::string>{"start 12"});
}

TEST_CASE("a delayed item is peeked at when its delay ends, and claimed at the end of the list") {
  ListConfig rule = rule_for("work");
  rule.circular().cooldown = 10s;
  IdlePollerBench bench(rule, 20);
  bench.redis.ends = 4;
  bench.lock(4, 20, 1h);
  bench.begin();
  for (const char* run : {"run1", "run2", "run3", "run4"}) bench.end(run);
  CHECK(bench.scans() == Scans{whole, whole, whole, whole, whole});
  CHECK(bench.poller->state() == PollerState::idle);
  // Moves the items behind the ones delayed for an hour. A full scan leaves those in place.
  auto& items = bench.redis.lists["work"];
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return std::stoi(a) < std::stoi(b); });
  bench.redis.peeks = 0;
  bench.run_for(9900ms);
  CHECK(bench.scans().empty());
  CHECK(bench.redis.peeks > 0);
  bench.run_for(200ms);
  CHECK(bench.scans().front() == ends);
  CHECK(bench.log.back() == "start 0");
}

TEST_CASE("an empty list whose changes Redis reports is peeked at every 30 s") {
  IdlePollerBench bench(rule_for("work"), 0);
  bench.redis.receives = true;
  bench.begin();
  bench.run_for(300s);
  CHECK(bench.redis.peeks >= 8);
  CHECK(bench.redis.peeks <= 12);
  bench.redis.lists["work"] = {"a"};
  bench.sources.back()->handler.on_wake();
  bench.settle_down();
  CHECK(bench.log == std::vector<std::string>{"start a"});
}

TEST_CASE("hinted polls that find items cost no idle budget") {
  ListConfig rule = rule_for("work");
  rule.circular().cooldown = 5ms;
  IdlePollerBench bench(rule, 1);
  bench.begin();
  for (int run = 1; run <= 500; ++run) {
    bench.end("run" + std::to_string(run));
    bench.run_for(6ms);
  }
  CHECK(bench.redis.history.size() == 500);
}

TEST_CASE(
    "a changed weight while a claim is in flight sends no second claim, even after a reconnect") {
  IdlePollerBench bench(rule_for("work"), 3);
  bench.lock(0, 3);
  bench.begin();
  bench.redis.claim_takes = 100ms;
  const std::size_t before = bench.redis.claims;
  auto& handler = bench.sources.back()->handler;
  handler.on_back();  // requests admission from the loop
  handler.on_wake();  // claims at once
  CHECK(bench.redis.claims == before + 1);
  ListConfig heavier = rule_for("work");
  heavier.weight = 3;
  bench.poller->use(share(std::move(heavier)),
                    bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  bench.run_for(50ms);
  CHECK(bench.redis.claims == before + 1);
}

TEST_CASE("a full scan with a deficit runs eventually, however often hinted polls come before it") {
  ListConfig rule = rule_for("work");
  rule.circular().cooldown = 20ms;
  IdlePollerBench bench(rule, 1000);
  bench.redis.ends = 4;
  bench.lock(1, 1000);
  bench.begin();
  bench.end("run1");
  bench.run_for(30ms);
  CHECK(bench.log.back() == "start 0");
  bench.unlock(500);
  bench.sources.back()->handler.on_wake();
  bool found = false;
  for (int run = 2; run < 100 && !found; ++run) {
    bench.end("run" + std::to_string(run));
    bench.run_for(21ms);
    found = bench.log.back() == "start 500";
  }
  CHECK(found);
}

TEST_CASE("items of a long list freed by own runs are claimed by scans of the edges") {
  IdlePollerBench bench(rule_for("work", 5), 1000);
  bench.redis.ends = 8;
  bench.redis.pass_calls = 100;
  bench.lock(3, 1000);
  bench.begin();
  CHECK(bench.poller->runs().size() == 3);
  bench.scans();
  for (int run = 1; run <= 200; ++run) {
    bench.end("run" + std::to_string(run));
    bench.run_for(10ms);
    CHECK(bench.poller->runs().size() == 3);
  }
  const Scans scans = bench.scans();
  CHECK(std::count(scans.begin(), scans.end(), whole) <= 2);
}

/// Source of a circular list without a poller.
struct BareSource final : World, SourceHandler {
  explicit BareSource(std::size_t items, std::size_t pass_calls) {
    redis.ends = 8;
    redis.pass_calls = pass_calls;
    for (std::size_t i = 0; i < items; ++i) redis.lists["work"].push_back(std::to_string(i));
    source = make_source(nullptr, idle, *this);
    source->use(rule);
  }
  void on_claimed(ClaimReply&& reply) override {
    for (Claim& claim : reply.claims) claims.push_back(std::move(claim));
  }
  void on_may_claim() override {}
  void on_lease_lost(const RunId&) override {}
  void on_lease_back(const RunId&) override {}
  void on_lease_expiring(const RunId&) override {}
  void on_all_settled() override {}

  void claim(std::size_t wanted) {
    source->claim(wanted);
    settle_down();
  }
  void run_first() {
    EndedRun run;
    run.claim = claims.front();
    run.rule = rule;
    run.end.process = Exited{0};
    run.outcome = Succeeded{};
    claims.erase(claims.begin());
    source->settle(std::move(run));
    settle_down();
  }

  IdlePolls idle{timers, clock, 100, 7};
  ListConfigPtr rule = share(rule_for("work", 1000));
  std::unique_ptr<Source> source;
  std::vector<Claim> claims;
};

TEST_CASE("claims that were handed back do not count as items that the host holds") {
  BareSource bench(1000, 5);
  bench.claim(1000);
  REQUIRE(bench.claims.size() == 1000);
  for (const Claim& claim : std::exchange(bench.claims, {})) bench.source->hand_back(claim);
  bench.claim(3);
  REQUIRE(bench.claims.size() == 3);
  std::vector<Scan>& scans = bench.sources.back()->scans;
  scans.clear();
  for (int run = 0; run < 200; ++run) {
    bench.run_first();
    bench.claim(1);
    REQUIRE(bench.claims.size() == 3);
  }
  CHECK(scans.size() == 200);
  CHECK(std::count(scans.begin(), scans.end(), whole) <= 3);
}

TEST_CASE("an item freed by one of many own runs is claimed at once") {
  IdlePollerBench bench(rule_for("work", 1000), 800);
  bench.redis.ends = 8;
  bench.redis.pass_calls = 5;
  bench.begin();
  CHECK(bench.poller->runs().size() == 800);
  bench.end("run500");
  CHECK(bench.poller->runs().size() == 800);
}

TEST_CASE("free items at the edges neither hide the others nor cost a full scan per run") {
  IdlePollerBench bench(rule_for("work"), 1000);
  bench.redis.ends = 8;
  bench.redis.pass_calls = 8;
  bench.lock(0, 990);
  bench.begin();
  for (int run = 1; run <= 500; ++run) {
    bench.end("run" + std::to_string(run));
    bench.run_for(1ms);
  }
  const std::set<std::string> started(bench.log.begin(), bench.log.end());
  for (int item = 990; item < 1000; ++item)
    CHECK(started.contains("start " + std::to_string(item)));
  const Scans scans = bench.scans();
  // Half of the idle budget: 8 commands every 160 ms.
  CHECK(std::count(scans.begin(), scans.end(), whole) <= 6);
  CHECK(scans.size() >= 500);
}

TEST_CASE("a single free item of a very long list costs one full scan, then scans of the edges") {
  IdlePollerBench bench(rule_for("work"), 1000);
  bench.redis.ends = 8;
  bench.redis.pass_calls = 391;
  bench.lock(1, 1000);
  bench.begin();
  bench.scans();
  for (int run = 1; run <= 200; ++run) {
    bench.end("run" + std::to_string(run));
    bench.run_for(10ms);
  }
  const Scans scans = bench.scans();
  CHECK(std::count(scans.begin(), scans.end(), whole) <= 1);
  CHECK(bench.log.back() == "start 0");
}

TEST_CASE("an item whose lock expires is found, however often the delay of another item ends") {
  ListConfig rule = rule_for("work");
  rule.circular().cooldown = 20ms;
  IdlePollerBench bench(rule, 1000);
  bench.redis.ends = 4;
  bench.lock(1, 1000);
  bench.begin();
  bench.unlock(500);
  bool found = false;
  for (int run = 1; run < 300 && !found; ++run) {
    bench.end("run" + std::to_string(run));
    bench.run_for(25ms);
    found = bench.log.back() == "start 500";
  }
  CHECK(found);
}

// Executor of an idle list.

namespace {

/// Poller that creates its executor itself.
struct LeanPoller : IdlePollerBench, PollerOwner {
  LeanPoller(ListConfig rule, std::size_t items) : IdlePollerBench(std::move(rule), items, this) {}
  void host_lacks(const Poller&, const std::string&) override {}
  void poller_changed(const Poller&) override {}
  std::shared_ptr<Executor> executor_for(Poller& of, const ListConfigPtr& rule) override {
    keep_executors = false;
    auto executor = make_executor(rule, {}, of.run_handler());
    executors.back()->may_go = true;
    ++made;
    last = executor;
    return executor;
  }
  void begin() {
    poller->begin(make_source(nullptr, idle, poller->source_handler()));
    settle_down();
  }
  std::weak_ptr<Executor> last;
  std::size_t made = 0;
};

}  // namespace

TEST_CASE(
    "an executor is created when its list wakes, and destroyed when idle unless it had a run") {
  LeanPoller bench(rule_for("work"), 3);
  bench.lock(0, 3);
  bench.begin();
  CHECK(bench.made == 1);
  CHECK(bench.last.expired());
  bench.run_for(10s);
  CHECK(bench.made == 1);
  bench.unlock(1);
  bench.run_for(400ms);
  CHECK(bench.log == std::vector<std::string>{"start 1"});
  CHECK(bench.made == 2);
  bench.redis.lists["work"].clear();
  bench.end("run1");
  bench.run_for(10s);
  CHECK(bench.poller->state() == PollerState::idle);
  CHECK(bench.made == 2);
  CHECK_FALSE(bench.last.expired());
}

TEST_CASE("a quiet idle list creates no executor for a changed list config") {
  LeanPoller bench(rule_for("work"), 3);
  bench.lock(0, 3);
  bench.begin();
  bench.poller->set_quiet(true);
  bench.poller->use(share(rule_for("work", 4)));
  bench.settle_down();
  CHECK(bench.made == 1);
  bench.poller->set_quiet(false);
  bench.settle_down();
  CHECK(bench.made == 2);
  CHECK(bench.last.expired());
}

// Wake-ups of an idle list.

TEST_CASE("wake-ups that find items are followed by claims without a pause") {
  IdlePollerBench bench(rule_for("work"), 3);
  bench.runs_take = 1ms;
  bench.lock(0, 3);
  bench.begin();
  for (int i = 0; i < 50; ++i) {
    bench.unlock(1);
    bench.sources.back()->handler.on_wake();
    bench.run_for(1500us);
    bench.lock(0, 3);
    bench.run_for(500us);
  }
  CHECK(bench.ended >= 50);
}

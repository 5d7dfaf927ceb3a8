// Prefetching of items, and runs that wait for a process.
#include <doctest/doctest.h>

#include "poller_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("very short runs are prefetched, and handed back when runs become long") {
  Bench bench(rule_for("work"));
  bench.runs_take = 1ms;
  for (int i = 0; i < 100; ++i) bench.redis.lists["work"].push_back("i" + std::to_string(i));
  bench.begin();
  bench.run_for(1s);
  const auto runs = bench.ended;
  CHECK(runs > 500);
  CHECK(bench.redis.claims < runs / 4);

  // During a long run, the items prefetched for later are handed back within the timeout.
  bench.executor().end_at(bench.executor().started.back().run, 1h, Exited{0});
  bench.run_for(200ms);
  CHECK(bench.source().handed_back > 0);
  CHECK(locked(bench) == 1);
}

TEST_CASE("prefetched items are at most as many as the slots, and the oldest starts first") {
  Bench bench(rule_for("work", 200));
  bench.runs_take = 5ms;
  bench.redis.claim_takes = 2ms;
  for (int i = 0; i < 1000; ++i) bench.redis.lists["work"].push_back("i" + std::to_string(i));
  bench.begin();
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    bench.run_for(1ms);
    most = std::max(most, locked(bench));
    CHECK(bench.poller->runs().size() <= 200);
  }
  CHECK(most > 300);
  CHECK(most <= 400);
  CHECK(std::ranges::is_sorted(bench.executor().started, {}, &Claim::fence));
}

TEST_CASE("runs that are not much longer than a claim are prefetched") {
  Bench bench(rule_for("work", 4));
  std::size_t least = 0;
  std::size_t most = 4;
  SUBCASE("a claim without latency prefetches nothing") {
    bench.runs_take = 25ms;
  }
  SUBCASE("a claim with latency prefetches up to the number of slots") {
    bench.runs_take = 25ms;
    bench.redis.claim_takes = 10ms;
    least = 5;
    most = 8;
  }
  SUBCASE("a single very slow claim is ignored") {
    bench.runs_take = 50ms;
    bench.redis.claim_takes = 1s;
  }
  for (int i = 0; i < 100; ++i) bench.redis.lists["work"].push_back("i" + std::to_string(i));
  bench.begin();
  std::size_t seen = 0;
  for (int i = 0; i < 3000; ++i) {
    bench.run_for(1ms);
    seen = std::max(seen, locked(bench));
  }
  CHECK(seen >= least);
  CHECK(seen <= most);
}

TEST_CASE("several prefetched items that lose their leases at once are all handed back") {
  Bench bench(rule_for("work"));
  bench.runs_take = 1ms;
  for (int i = 0; i < 100; ++i) bench.redis.lists["work"].push_back("i" + std::to_string(i));
  bench.begin();
  bench.run_for(100ms);
  bench.executor().end_at(bench.executor().started.back().run, 1h, Exited{0});
  bench.run_for(1ms);
  // All running and all prefetched items lose their leases. One more report names an unknown run.
  std::vector<RunId> held;
  for (const auto& [key, lock] : bench.redis.locks)
    if (!lock.value.empty()) held.push_back(lock.value);
  REQUIRE(held.size() > 2);
  for (const RunId& run : held) bench.source().handler.on_lease_lost(run);
  bench.source().handler.on_lease_lost("nobody");
  bench.settle_down();
  CHECK(bench.source().handed_back == held.size() - 1);
  CHECK(bench.poller->counters().leases_lost == 1);
}

TEST_CASE("a prefetched item whose lease is about to expire is handed back and never starts") {
  ListConfig rule = rule_for("work");
  rule.on_lease_loss = OnLeaseLoss::terminate;
  Bench bench(rule);
  bench.runs_take = 1ms;
  for (int i = 0; i < 100; ++i) bench.redis.lists["work"].push_back("i" + std::to_string(i));
  bench.begin();
  bench.run_for(100ms);
  const RunId last = bench.executor().started.back().run;
  const std::size_t started = bench.executor().started.size();
  std::vector<RunId> waiting;
  for (const auto& [key, lock] : bench.redis.locks)
    if (!lock.value.empty() && lock.value != last) waiting.push_back(lock.value);
  REQUIRE(waiting.size() > 1);
  bench.redis.claim_takes = 1h;  // Redis stalls
  const std::size_t handed_back = bench.source().handed_back;
  SUBCASE("the expiry is reported") {
    for (const RunId& run : waiting) bench.source().handler.on_lease_expiring(run);
    CHECK(bench.executor().killed.empty());
    bench.source().handler.on_lease_expiring(last);
    CHECK(bench.executor().killed == std::vector<RunId>{last});
  }
  SUBCASE("the previous run ends before the report") {
    bench.redis.leases_end = true;
  }
  bench.run_for(20ms);
  CHECK(bench.executor().started.size() == started);
  CHECK(bench.source().handed_back == handed_back + waiting.size());
}

TEST_CASE("a run that times out before a process accepts it is no failure of its item") {
  ListConfig rule = rule_for("work");
  rule.timeout = 10s;
  rule.progress_timeout = 3s;
  Bench bench(rule);
  bench.redis.lists["work"] = {"a"};
  bench.executors_busy = true;
  bench.begin();
  bench.run_for(20s);
  REQUIRE_FALSE(bench.executor().stopped.empty());
  CHECK(bench.redis.history.empty());
  CHECK(bench.redis.failures["worka"] == 0);
  CHECK(bench.source().handed_back == bench.executor().stopped.size());
  CHECK(bench.poller->counters().timed_out == 0);
  CHECK(bench.poller->state() == PollerState::starved);
  CHECK(bench.poller->shortage().reason() == "no process has accepted an item for 3s");
  bench.executor().busy = false;
  bench.run_for(30s);
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("the time that a run waits for a process does not count for its timeout") {
  ListConfig rule = rule_for("work");
  rule.timeout = 10s;
  Bench bench(rule);
  bench.redis.lists["work"] = {"a"};
  bench.executors_busy = true;
  bench.begin();
  bench.run_for(9s);
  const RunId run = bench.executor().started.back().run;
  bench.executor().handler.on_started(run, 42);
  bench.run_for(9s);
  CHECK(bench.executor().stopped.empty());
  bench.executor().handler.on_started(run, 43);  // another process accepts the same run
  bench.executor().busy = false;
  bench.run_for(2s);
  CHECK(bench.executor().stopped == std::vector<RunId>{run});
  CHECK(bench.poller->counters().timed_out == 1);
}

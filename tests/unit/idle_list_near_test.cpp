// Poller with a long list in which the position of a free item is known.
#include <doctest/doctest.h>

#include "idle_list.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace idle_list_near_test {
namespace {

/// A list of 20 locked items, of which a scan of the edges examines four.
struct LongListBench : IdlePollerBench {
  explicit LongListBench() : IdlePollerBench(rule_for("work"), 20) {
    redis.ends = 4;
    lock(0, 20);
    begin();
    CHECK(scans() == Scans{whole});
  }
};

TEST_CASE("a peek that finds the position of a free item is followed by one scan of the edges") {
  LongListBench bench;
  bench.redis.locates = true;
  SUBCASE("no other host waits") {}
  SUBCASE("other hosts wait, so the claim is overdue") {
    bench.redis.wait_queue = WaitQueue::others;
    bench.redis.other_waiters = 1;
    bench.sources.back()->handler.on_turn();
    bench.run_for(1ms);
    bench.scans();
  }
  bench.unlock(12);
  bench.run_for(1s);
  CHECK(bench.scans() == Scans{ends});
  CHECK(bench.log == std::vector<std::string>{"start 12"});
}

TEST_CASE("a message with the position of a free item is followed by one scan of the edges") {
  LongListBench bench;
  bench.unlock(12);
  bench.sources.back()->located = true;
  bench.sources.back()->handler.on_located();
  bench.run_for(1ms);
  CHECK(bench.scans() == Scans{ends});
  CHECK(bench.log == std::vector<std::string>{"start 12"});
}

TEST_CASE("a position at which no item is free any more causes no full scan") {
  LongListBench bench;
  bench.sources.back()->handler.on_located();
  bench.run_for(10s);
  CHECK(bench.scans() == Scans{ends});
}

TEST_CASE("after peeks whose item no claim can lock, a full scan follows") {
  LongListBench bench;
  bench.redis.locates = true;
  bench.unlock(12);
  bench.redis.blocked = "12";
  bench.run_for(10s);
  const Scans scans = bench.scans();
  CHECK(std::count(scans.begin(), scans.end(), whole) >= 1);
  CHECK(std::count(scans.begin(), scans.end(), ends) >= 4);
}

TEST_CASE("a list whose full scan waits for the idle budget is peeked at") {
  LongListBench bench;
  bench.redis.pass_calls = 3000;
  bench.sources.back()->handler.on_back();
  bool scanned = false;
  for (int i = 0; i < 100 && !scanned; ++i) {
    bench.run_for(1s);
    const Scans scans = bench.scans();
    scanned = std::count(scans.begin(), scans.end(), whole) == 1;
  }
  CHECK(scanned);
  bench.redis.locates = true;
  bench.redis.next_peek = 75ms;
  bench.sources.back()->handler.on_wake();
  bench.run_for(1s);
  bench.unlock(12);
  bench.run_for(3s);
  CHECK(bench.log == std::vector<std::string>{"start 12"});
}

TEST_CASE("a change of a long list causes a peek within 1 s, also if a full scan is due later") {
  LongListBench bench;
  bench.redis.pass_calls = 500;
  bench.sources.back()->handler.on_wake();
  bench.run_for(30s);
  bench.sources.back()->handler.on_wake();
  bench.run_for(1s);
  const std::size_t before = bench.redis.peeks_after_change;
  bench.sources.back()->handler.on_changed();
  bench.run_for(200ms);
  CHECK(bench.redis.peeks_after_change > before);
}

TEST_CASE("many items of a long list are peeked at while the idle budget has a surplus") {
  LongListBench bench;
  bench.redis.next_peek = 75ms;
  bench.run_for(1s);  // the first of these peeks
  bench.redis.peeks_at_many = 0;
  SUBCASE("surplus") {
    bench.redis.look_cost = 6;
    bench.run_for(3s);
    CHECK(bench.redis.peeks_at_many >= 35);
    CHECK(bench.redis.peeks_at_many <= 41);
  }
  SUBCASE("the peeks need more than half of the budget") {
    bench.redis.look_cost = 30;
    bench.run_for(30s);
    CHECK(bench.redis.peeks_at_many * 30 <= 30 * 60);
  }
  SUBCASE("the hosts of a fleet share these peeks") {
    bench.idle.share_with(20);
    bench.run_for(1s);
    bench.redis.peeks_at_many = 0;
    bench.run_for(7500ms);
    CHECK(bench.redis.peeks_at_many >= 9);
    CHECK(bench.redis.peeks_at_many <= 11);
  }
  SUBCASE("also if items become free all the time") {
    bench.redis.look_cost = 0.1;
    for (int i = 0; i < 30; ++i) {
      bench.sources.back()->handler.on_changed();
      bench.sources.back()->handler.on_located();
      bench.run_for(100ms);
    }
    CHECK(bench.redis.peeks_at_many >= 20);
  }
}

}  // namespace
}  // namespace idle_list_near_test

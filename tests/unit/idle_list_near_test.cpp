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

TEST_CASE("a long list is peeked at more often while the idle budget has a surplus") {
  LongListBench bench;
  bench.redis.next_peek = 75ms;
  bench.run_for(1s);  // the first of these peeks
  bench.redis.peeks = 0;
  SUBCASE("surplus") {
    bench.redis.look_cost = 6;
    bench.run_for(3s);
    CHECK(bench.redis.peeks >= 35);
    CHECK(bench.redis.peeks <= 41);
  }
  SUBCASE("the list needs half of the budget") {
    bench.redis.look_cost = 30;
    bench.run_for(30s);
    CHECK(bench.redis.peeks * 30 <= 31 * 100);
    CHECK(bench.redis.peeks * 30 >= 30 * 35);
  }
  SUBCASE("the other hosts that wait peek too") {
    bench.redis.wait_queue = WaitQueue::others;
    bench.redis.other_waiters = 8;
    bench.sources.back()->handler.on_turn();
    bench.run_for(2s);
    bench.redis.peeks = 0;
    bench.run_for(3s);
    CHECK(bench.redis.peeks <= 9);
  }
}

}  // namespace
}  // namespace idle_list_near_test

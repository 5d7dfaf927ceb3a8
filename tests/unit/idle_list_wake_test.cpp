// Wake-ups of an idle list: their cost, and the turn of a waiter.
#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "idle_list.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace {

/// Lists of one host that share its idle budget of 100 commands per second. One peek costs 1/256 of
/// a command.
struct ManyLists : World {
  /// `locked`: each list has one delayed item. Otherwise the lists are empty.
  void begin(std::size_t count, bool locked) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = "l" + std::to_string(i);
      if (locked) {
        redis.lists[name] = {"a"};
        redis.locks[name + "a"] = {"rest", std::nullopt};
      }
      pollers.push_back(std::make_unique<Poller>(PollerHost{clock, timers, places, *this},
                                                 share(rule_for(name))));
      auto& poller = *pollers.back();
      poller.begin(make_source(nullptr, idle, poller.source_handler()),
                   make_executor(nullptr, {}, poller.run_handler()));
    }
    redis.look_cost = 1.0 / 256;
    settle_down();
  }

  SlotPool places{clock, 0};
  IdlePolls idle{timers, clock, 100, 7};
  std::vector<std::unique_ptr<Poller>> pollers;
};

}  // namespace

TEST_CASE("a wake-up during a peek causes a claim, and the reply to the peek has no effect") {
  IdlePollerBench bench(rule_for("work"), 1);
  bench.lock(0, 1);
  bench.begin();
  bench.scans();
  while (bench.redis.peeks == 0) bench.run_for(1ms);
  bench.unlock(0);
  bench.sources.back()->handler.on_wake();
  bench.run_for(1s);
  CHECK(bench.scans() == Scans{ends});
  CHECK(bench.log == std::vector<std::string>{"start 0"});
}

TEST_CASE("a claim at the end of a delay does not count as the claim that is planned for later") {
  IdlePollerBench bench(rule_for("work"), 1);
  bench.lock(0, 1, 10s);
  bench.begin();
  bench.run_for(1s);
  auto& handler = bench.sources.back()->handler;
  for (int fruitless = 0; fruitless < 2; ++fruitless) {
    handler.on_wake();
    bench.run_for(5ms);
  }
  bench.lock(0, 1, 5ms);
  handler.on_wake();
  bench.run_for(1ms);
  handler.on_wake();  // plans a claim 16 ms after the last one, the third that found nothing
  bench.run_for(1ms);
  bench.lock(0, 1, 10s);
  const std::size_t before = bench.redis.claims;
  bench.run_for(6ms);
  REQUIRE(bench.redis.claims == before + 1);
  bench.run_for(10ms);
  handler.on_wake();
  bench.run_for(1ms);
  CHECK(bench.redis.claims == before + 2);
}

TEST_CASE("after a wake-up that found nothing, the next one causes a claim within 1 ms") {
  IdlePollerBench bench(rule_for("work"), 1);
  bench.lock(0, 1);
  bench.begin();
  bench.run_for(1s);
  bench.sources.back()->handler.on_wake();  // an item that another claim has found already
  bench.run_for(100us);
  bench.unlock(0);
  bench.sources.back()->handler.on_wake();
  bench.run_for(1ms);
  CHECK(bench.log == std::vector<std::string>{"start 0"});
}

TEST_CASE("an item that is added soon after a claim is found within milliseconds") {
  IdlePollerBench bench(rule_for("work", 4), 1);
  bench.redis.tracks = true;
  bench.lock(0, 1);
  bench.begin();
  bench.run_for(1s);
  for (int item = 1; item <= 3; ++item) {
    bench.redis.lists["work"].push_back(std::to_string(item));
    bench.sources.back()->handler.on_changed();
    bench.run_for(6ms);
    CHECK(bench.poller->runs().size() == static_cast<std::size_t>(item));
    // The claim ended the tracking. A peek starts it again, and finds items that were added
    // meanwhile.
    bench.run_for(6ms);
  }
}

TEST_CASE("changes that add nothing soon end the frequent peeks after an addition") {
  IdlePollerBench bench(rule_for("work", 4), 1);
  bench.redis.tracks = true;
  bench.lock(0, 1);
  bench.begin();
  bench.run_for(1s);
  bench.redis.lists["work"].push_back("1");
  bench.sources.back()->handler.on_changed();
  bench.run_for(6ms);
  REQUIRE(bench.poller->runs().size() == 1);
  const std::size_t before = bench.redis.peeks;
  for (int i = 0; i < 150; ++i) {
    bench.sources.back()->handler.on_changed();
    bench.run_for(6ms);
  }
  CHECK(bench.redis.peeks <= before + 25);
}

TEST_CASE("a list whose items become free one after the other causes few peeks") {
  constexpr std::size_t items = 100;
  IdlePollerBench bench(rule_for("work", items), items);
  bench.redis.tracks = true;
  for (std::size_t i = 0; i < items; ++i) bench.lock(i, i + 1, 1s + i * 10ms);
  bench.begin();
  bench.run_for(900ms);
  const std::size_t before = bench.redis.peeks;
  bench.run_for(1200ms);
  CHECK(bench.poller->runs().size() == items);
  CHECK(bench.redis.peeks <= before + 10);
}

TEST_CASE("a list whose changes Redis can report is peeked at as soon as it is idle") {
  for (const bool tracks : {false, true}) {
    CAPTURE(tracks);
    IdlePollerBench bench(rule_for("work"), 1);
    bench.redis.tracks = tracks;
    bench.lock(0, 1);
    bench.begin();
    bench.run_for(100ms);
    CHECK(bench.redis.peeks_after_change == (tracks ? 1 : 0));
  }
}

TEST_CASE("a change of an idle list causes a peek at once, and frequent changes cause few peeks") {
  IdlePollerBench bench(rule_for("work"), 1);
  bench.lock(0, 1);
  bench.begin();
  bench.run_for(1s);
  const std::size_t before = bench.redis.peeks;
  bench.sources.back()->handler.on_changed();
  bench.run_for(1ms);
  CHECK(bench.redis.peeks == before + 1);
  CHECK(bench.redis.peeks_after_change == 1);
  const auto change = [&bench](int times) {
    for (int i = 0; i < times; ++i) {
      bench.sources.back()->handler.on_changed();
      bench.run_for(10ms);
    }
  };
  change(100);
  CHECK(bench.redis.peeks <= before + 5);
  SUBCASE("an added item is found by the length of the list") {
    bench.redis.lists["work"].push_back("1");
    change(40);
    CHECK(bench.log == std::vector<std::string>{"start 1"});
  }
  SUBCASE("an item that becomes free is found by peeks at the items") {
    bench.unlock(0);
    change(250);
    CHECK(bench.log == std::vector<std::string>{"start 0"});
  }
}

/// Makes the host wait beside `others` other hosts: the reply to its next claim has this number.
static void wait_with(IdlePollerBench& bench, std::size_t others) {
  bench.redis.other_waiters = others;
  bench.sources.back()->handler.on_turn();
  bench.run_for(5s);
}

TEST_CASE("the more hosts wait for a list, the less often each of them peeks after a change") {
  IdlePollerBench bench(rule_for("work", 2), 1);
  bench.redis.wait_queue = WaitQueue::others;
  bench.lock(0, 1);
  const auto peeks_with = [&](std::size_t others) {
    wait_with(bench, others);
    const std::size_t before = bench.redis.peeks_after_change;
    for (int i = 0; i < 1000; ++i) {
      bench.sources.back()->handler.on_changed();
      bench.run_for(50ms);
    }
    return bench.redis.peeks_after_change - before;
  };
  bench.begin();
  const std::size_t with_one = peeks_with(1), with_nine = peeks_with(9), with_many = peeks_with(99);
  CHECK(with_one >= 100);
  CHECK(with_nine >= with_one / 20);
  CHECK(with_nine <= with_one / 3);
  CHECK(with_many <= 2);  // the other hosts peek as well
}

TEST_CASE("a wake-up while a claim is in flight causes another claim before the list is idle") {
  IdlePollerBench bench(rule_for("work"), 3);
  bench.redis.claim_takes = 10ms;
  bench.lock(0, 3);
  bench.begin();
  bench.sources.back()->handler.on_wake();
  bench.unlock(1);
  bench.run_for(15ms);
  CHECK(bench.redis.claims == 2);
  CHECK(bench.rests == 0);  // w8y for one item ends when its list is idle
  bench.run_for(10ms);
  CHECK(bench.log == std::vector<std::string>{"start 1"});
}

TEST_CASE("an item freed by an own run while a claim is in flight is claimed next") {
  IdlePollerBench bench(rule_for("work", 2), 3);
  bench.lock(0, 3);
  bench.begin();
  bench.unlock(1);
  bench.sources.back()->handler.on_wake();
  bench.run_for(15ms);
  REQUIRE(bench.log == std::vector<std::string>{"start 1"});
  bench.redis.claim_takes = 10ms;
  bench.run_for(1s);  // without a wake-up
  while (bench.redis.claims_out == 0) {
    bench.sources.back()->handler.on_wake();
    bench.run_for(1ms);
  }
  // The claim has found the item locked. Its reply is still in flight.
  bench.end(bench.executors.back()->started.back().run);
  bench.run_for(40ms);
  CHECK(bench.log == std::vector<std::string>{"start 1", "succeeded 1", "start 1"});
}

TEST_CASE("a wake-up during a full scan causes another scan") {
  IdlePollerBench bench(rule_for("work"), 20);
  bench.redis.ends = 4;
  bench.redis.claim_takes = 100ms;
  bench.lock(0, 20);
  bench.begin();
  bench.unlock(12);  // at a position that the scan has passed
  bench.sources.back()->handler.on_wake();
  bench.run_for(2s);
  CHECK(bench.scans() == Scans{whole, ends, whole});
  CHECK(bench.log == std::vector<std::string>{"start 12"});
}

TEST_CASE("a flood of wake-ups causes few claims, and a later wake-up is still effective") {
  IdlePollerBench bench(rule_for("work"), 3);
  bench.lock(0, 3);
  bench.begin();
  const std::size_t before = bench.redis.claims;
  bench.sources.back()->handler.on_wake();
  CHECK(bench.redis.claims == before + 1);  // the first wake-up causes a claim at once
  for (int i = 0; i < 30'000; ++i) {
    bench.sources.back()->handler.on_wake();
    bench.run_for(100us);
  }
  CHECK(bench.redis.claims - before < 25);
  CHECK(bench.redis.peeks + bench.redis.claims - before < 40);
  bench.unlock(1);
  bench.sources.back()->handler.on_wake();
  bench.run_for(400ms);
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("wake-ups while a claim is in flight cause another claim, and a flood of them few") {
  IdlePollerBench bench(rule_for("work"), 3);
  bench.lock(0, 3);
  bench.begin();
  bench.redis.claim_takes = 1ms;
  const std::size_t before = bench.redis.claims;
  bench.sources.back()->handler.on_wake();
  for (int i = 0; i < 10'000; ++i) {
    bench.run_for(100us);
    bench.sources.back()->handler.on_wake();
  }
  CHECK(bench.redis.claims - before >= 2);
  CHECK(bench.redis.claims - before < 15);
}

TEST_CASE("wake-ups of many lists are limited by the idle budget") {
  ManyLists world;
  world.begin(500, true);
  const std::size_t before = world.redis.claims;
  for (int i = 0; i < 100; ++i) {
    for (auto* source : world.sources) source->handler.on_wake();
    world.run_for(10ms);
  }
  CHECK(world.redis.claims - before <= 210);
}

TEST_CASE("after fruitless claims, a waiter still claims before its turn ends") {
  IdlePollerBench bench(rule_for("work"), 1);
  bench.lock(0, 1);
  bench.begin();
  for (int i = 0; i < 10; ++i) {
    bench.sources.back()->handler.on_wake();
    bench.run_for(400ms);
  }
  bench.sources.back()->handler.on_wake();
  bench.run_for(1ms);
  bench.unlock(0);
  bench.sources.back()->handler.on_turn();
  bench.run_for(100ms);
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("a waiter that is next claims at once, even if the idle budget is used up") {
  ManyLists world;
  world.begin(500, true);
  for (auto* source : world.sources) source->handler.on_wake();
  world.run_for(10ms);
  const std::size_t before = world.redis.claims;
  auto* last = world.sources.back();
  SUBCASE("a wake-up waits for the budget") {
    last->handler.on_wake();
    world.run_for(10ms);
    CHECK(world.redis.claims - before <= 2);
  }
  SUBCASE("the next waiter does not wait") {
    for (auto* source : world.sources) source->handler.on_turn();
    world.run_for(10ms);
    CHECK(world.redis.claims - before >= 400);
  }
}

TEST_CASE("after a reconnect all lists claim, with a limited number of claims in flight") {
  constexpr std::size_t lists = 2000;
  ManyLists world;
  world.begin(lists, false);
  auto& pollers = world.pollers;
  for (auto& [prefix, items] : world.redis.lists) items = {"a"};
  world.redis.claim_takes = 20ms;
  const std::size_t before = world.redis.claims;
  for (auto* source : world.sources) source->handler.on_back();
  const Instant since = world.clock.now();
  std::size_t asked = 0;
  while (asked < lists && world.clock.now() - since < 1s) {
    world.run_for(10ms);
    const auto out = static_cast<std::size_t>(
        std::count_if(pollers.begin(), pollers.end(),
                      [](const auto& poller) { return poller->state() == PollerState::claiming; }));
    CHECK(out <= IdlePolls::most_back);
    asked = world.redis.claims - before;
  }
  CHECK(asked >= lists);
  CHECK(world.clock.now() - since < 300ms);
  SUBCASE("lists that are removed meanwhile do not delay others") {
    for (auto* source : world.sources) source->handler.on_back();
    pollers.erase(pollers.begin(), pollers.begin() + 500);
    world.run_for(1s);
    for (const auto& poller : pollers) CHECK(poller->runs().size() == 1);
  }
}

TEST_CASE("after a reconnect an empty list is peeked at, and claimed from if it has items") {
  IdlePollerBench bench(rule_for("work"), 0);
  bench.begin();
  const std::size_t claims = bench.redis.claims;
  const std::size_t looks = bench.redis.peeks;
  bench.sources.back()->handler.on_back();
  bench.settle_down();
  CHECK(bench.redis.claims == claims);
  CHECK(bench.redis.peeks == looks + 1);
  bench.redis.lists["work"] = {"0"};
  bench.sources.back()->handler.on_back();
  bench.settle_down();
  CHECK(bench.redis.claims == claims + 1);
  CHECK(bench.log == std::vector<std::string>{"start 0"});
}

// Lists with other waiters.

namespace {

/// Occupies one of the admissions after a reconnect.
struct Guest : IdlePolls::Sleeper {
  using Sleeper::Sleeper;
  void poll_due(bool, double) override {}
  void back_due() override {}
};

}  // namespace

TEST_CASE("a wake-up before the first claim is sent causes no second claim") {
  IdlePollerBench bench(rule_for("work"), 0);
  std::vector<std::unique_ptr<Guest>> guests;
  for (std::size_t i = 0; i < IdlePolls::least_back; ++i) {
    guests.push_back(std::make_unique<Guest>(bench.idle));
    REQUIRE(guests.back()->come_in());
  }
  bench.begin();
  auto& handler = bench.sources.back()->handler;
  handler.on_back();
  handler.on_wake();
  CHECK(bench.redis.claims == 0);
  for (const auto& guest : guests) guest->been_back();
  bench.run_for(200ms);
  CHECK(bench.redis.claims == 1);
}

TEST_CASE("a poller stopped during its peek after a reconnect releases its admission") {
  IdlePollerBench bench(rule_for("work"), 0);
  bench.begin();
  bench.sources.back()->handler.on_back();
  const std::size_t looks = bench.redis.peeks;
  while (bench.redis.peeks == looks) bench.timers.run_due(bench.clock.now());
  bench.poller->set_quiet(true);
  bench.settle_down();
  std::vector<std::unique_ptr<Guest>> guests;
  for (std::size_t i = 0; i < IdlePolls::least_back; ++i) {
    guests.push_back(std::make_unique<Guest>(bench.idle));
    CHECK(guests.back()->come_in());
  }
}

TEST_CASE("an own run's item is not claimed before the turn if the wait queue is crowded") {
  IdlePollerBench bench(rule_for("work", 2), 1);
  bench.redis.wait_queue = WaitQueue::crowded;
  bench.begin();
  const std::size_t before = bench.redis.claims;
  bench.end("run1");
  CHECK(bench.redis.claims == before);
  bench.run_for(50ms);
  CHECK(bench.redis.claims == before);
  bench.sources.back()->handler.on_turn();
  bench.settle_down();
  CHECK(bench.redis.claims == before + 1);
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("the end of a run frees a slot of the fleet, even if its item is delayed") {
  ListConfig rule = rule_for("work", 2);
  rule.circular().cooldown = 10s;
  IdlePollerBench bench(rule, 2);
  bench.lock(1, 2);
  SUBCASE("a poller blocked by a full fleet claims at once") {
    bench.redis.too_few = ClaimEnd::fleet_full;
    bench.begin();
    bench.unlock(1);
    bench.end("run1");
    CHECK(bench.log.back() == "start 1");
  }
  SUBCASE("another poller waits for the end of the delay") {
    bench.begin();
    const std::size_t claims = bench.redis.claims;
    bench.end("run1");
    CHECK(bench.redis.claims == claims);
  }
}

TEST_CASE("the end of a run while the breaker is open makes the host read the next probe") {
  ListConfig rule = rule_for("work", 2);
  rule.circular().cooldown = 10s;
  IdlePollerBench bench(rule, 2);
  bench.lock(1, 2);
  bench.redis.too_few = ClaimEnd::breaker;
  bench.begin();
  CHECK(bench.poller->last_claim() == ClaimEnd::breaker);
  const std::size_t claims = bench.redis.claims;
  bench.end("run1");
  CHECK(bench.redis.claims == claims + 1);
}

TEST_CASE("a longer wait queue makes each waiter peek less often") {
  IdlePollerBench bench(rule_for("work", 2), 1);
  bench.redis.wait_queue = WaitQueue::crowded;
  bench.lock(0, 1);
  const auto peeks_with = [&](std::size_t others) {
    wait_with(bench, others);
    const std::size_t before = bench.redis.peeks;
    bench.run_for(20s);
    return bench.redis.peeks - before;
  };
  bench.begin();
  const std::size_t with_one = peeks_with(1);
  const std::size_t with_seven = peeks_with(7);
  const std::size_t with_many = peeks_with(999);
  CHECK(with_one >= 60);
  CHECK(with_seven <= with_one / 3);
  CHECK(with_many <= with_one / 6);
  CHECK(with_many >= 8);  // at most about 2 s apart, as for any list
  SUBCASE("an overdue free item is claimed regardless of the wait queue") {
    bench.unlock(0);
    bench.run_for(3s);
    CHECK(bench.sources.back()->manners.back() == Manner::overdue);
    CHECK(bench.poller->runs().size() == 1);
  }
  SUBCASE("after a notification the item is claimed in turn") {
    bench.unlock(0);
    bench.sources.back()->handler.on_turn();
    bench.settle_down();
    CHECK(bench.sources.back()->manners.back() == Manner::in_turn);
    CHECK(bench.poller->runs().size() == 1);
  }
}

TEST_CASE("a waiter claims at long intervals, which grow with the number of waiters") {
  IdlePollerBench bench(rule_for("work", 2), 1);
  bench.redis.wait_queue = WaitQueue::crowded;
  bench.lock(0, 1);
  const auto claims_with = [&](std::size_t others) {
    bench.redis.other_waiters = others;
    bench.unlock(0);
    bench.run_for(2s);
    bench.end(bench.executors.back()->started.back().run);
    bench.lock(0, 1);
    bench.sources.back()->handler.on_turn();
    bench.run_for(1s);
    const std::size_t before = bench.redis.claims;
    bench.run_for(40s);
    const std::size_t soon = bench.redis.claims - before;
    bench.run_for(20s);
    const std::size_t started = bench.redis.claims;
    bench.run_for(3min);
    return std::pair(soon, bench.redis.claims - started);
  };
  bench.begin();
  const auto with_two = claims_with(2), with_many = claims_with(999);
  CHECK(with_two.first >= 3);  // after 4 s, 8 s and 16 s
  CHECK(with_two.second >= 2);
  CHECK(with_two.second <= 4);
  CHECK(with_many.first <= 1);
  CHECK(with_many.second >= 2);
  CHECK(with_many.second <= 4);
}

TEST_CASE("thousands of waiting lists claim with the unused idle budget, and all are peeked at") {
  constexpr std::size_t lists = 5000;
  ManyLists world;
  world.redis.wait_queue = WaitQueue::crowded;
  world.redis.other_waiters = 1;
  world.begin(lists, true);
  world.run_for(2s);
  const std::size_t claims = world.redis.claims, looks = world.redis.peeks;
  world.run_for(10s);
  const std::size_t claimed = world.redis.claims - claims, looked = world.redis.peeks - looks;
  CHECK(claimed >= 100);
  CHECK(claimed + looked / 256 <= 1000 + 100);
  CHECK(looked >= lists * 10);
}

TEST_CASE("a host without a free slot passes its turn to the next waiter") {
  IdlePollerBench bench(rule_for("work"), 2);
  bench.begin();
  bench.run_for(1s);
  CHECK(bench.poller->state() == PollerState::full);
  const std::size_t before = bench.sources.back()->left_line;
  bench.sources.back()->handler.on_turn();
  CHECK(bench.sources.back()->left_line == before + 1);
  bench.poller->set_quiet(true);
  CHECK(bench.sources.back()->left_line > before + 1);
}

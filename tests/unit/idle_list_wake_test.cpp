// What wakes a list that rests, what that costs, and whose turn it is.
#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "idle_list.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace {

/// Lists of one host that share its idle budget of 100 commands a second; a look at one takes a
/// 256th of a command.
struct ManyLists : World {
  /// `locked`: each has an item that rests. Else they are empty.
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

TEST_CASE("a wake-up while a look is out comes first; the look's answer changes nothing") {
  IdlePollerBench bench(rule_for("work"), 1);
  bench.lock(0, 1);
  bench.begin();
  bench.scans();
  while (bench.redis.looks == 0) bench.run_for(1ms);
  bench.unlock(0);
  bench.sources.back()->handler.on_wake();
  bench.run_for(1s);
  CHECK(bench.scans() == Scans{ends});
  CHECK(bench.log == std::vector<std::string>{"start 0"});
}

TEST_CASE("what is heard while a claim is out is followed before the list comes to rest") {
  IdlePollerBench bench(rule_for("work"), 3);
  bench.redis.claim_takes = 10ms;
  bench.lock(0, 3);
  bench.begin();
  bench.sources.back()->handler.on_wake();
  bench.unlock(1);
  bench.run_for(15ms);
  CHECK(bench.redis.claims == 2);
  CHECK(bench.rests == 0);  // the one-item wrapper ends where a list rests
  bench.run_for(10ms);
  CHECK(bench.log == std::vector<std::string>{"start 1"});
}

TEST_CASE("what a run sets free while a claim is out is claimed next") {
  IdlePollerBench bench(rule_for("work", 2), 3);
  bench.lock(0, 3);
  bench.begin();
  bench.unlock(1);
  bench.sources.back()->handler.on_wake();
  bench.run_for(15ms);
  REQUIRE(bench.log == std::vector<std::string>{"start 1"});
  bench.redis.claim_takes = 10ms;
  bench.run_for(1s);  // nothing was heard for a while
  while (bench.redis.claims_out == 0) {
    bench.sources.back()->handler.on_wake();
    bench.run_for(1ms);
  }
  // It has seen the item locked; the answer is still to come.
  bench.end(bench.executors.back()->started.back().run);
  bench.run_for(40ms);
  CHECK(bench.log == std::vector<std::string>{"start 1", "succeeded 1", "start 1"});
}

TEST_CASE("a wake-up while a whole pass goes on is not forgotten") {
  IdlePollerBench bench(rule_for("work"), 20);
  bench.redis.ends = 4;
  bench.redis.claim_takes = 100ms;
  bench.lock(0, 20);
  bench.begin();
  bench.unlock(12);  // where the pass has been already
  bench.sources.back()->handler.on_wake();
  bench.run_for(2s);
  CHECK(bench.scans() == Scans{whole, ends, whole});
  CHECK(bench.log == std::vector<std::string>{"start 12"});
}

TEST_CASE("a flood of messages makes it claim no more often than a poll would, and not for long") {
  IdlePollerBench bench(rule_for("work"), 3);
  bench.lock(0, 3);
  bench.begin();
  const std::size_t before = bench.redis.claims;
  bench.sources.back()->handler.on_wake();
  CHECK(bench.redis.claims == before + 1);  // the first is worth a claim at once
  for (int i = 0; i < 30'000; ++i) {
    bench.sources.back()->handler.on_wake();
    bench.run_for(100us);
  }
  CHECK(bench.redis.claims - before < 25);
  CHECK(bench.redis.looks + bench.redis.claims - before < 40);
  bench.unlock(1);
  bench.sources.back()->handler.on_wake();
  bench.run_for(400ms);
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE(
    "a message that comes while a claim is out is not lost, nor is a flood of them followed") {
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

TEST_CASE("what wakes many lists is paid by the idle budget") {
  ManyLists world;
  world.begin(500, true);
  const std::size_t before = world.redis.claims;
  for (int i = 0; i < 100; ++i) {
    for (auto* source : world.sources) source->handler.on_wake();
    world.run_for(10ms);
  }
  CHECK(world.redis.claims - before <= 210);
}

TEST_CASE("after a reconnect all lists claim, a bounded number at a time") {
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
  SUBCASE("who goes meanwhile keeps nobody waiting") {
    for (auto* source : world.sources) source->handler.on_back();
    pollers.erase(pollers.begin(), pollers.begin() + 500);
    world.run_for(1s);
    for (const auto& poller : pollers) CHECK(poller->runs().size() == 1);
  }
}

TEST_CASE("after a reconnect what was empty is looked at, and claimed from if it is no longer") {
  IdlePollerBench bench(rule_for("work"), 0);
  bench.begin();
  const std::size_t claims = bench.redis.claims;
  const std::size_t looks = bench.redis.looks;
  bench.sources.back()->handler.on_back();
  bench.settle_down();
  CHECK(bench.redis.claims == claims);
  CHECK(bench.redis.looks == looks + 1);
  bench.redis.lists["work"] = {"0"};
  bench.sources.back()->handler.on_back();
  bench.settle_down();
  CHECK(bench.redis.claims == claims + 1);
  CHECK(bench.log == std::vector<std::string>{"start 0"});
}

// ---- where others wait too

namespace {

/// Takes a place among those that are back.
struct Guest : IdlePolls::Sleeper {
  using Sleeper::Sleeper;
  void poll_due(bool, double) override {}
  void back_due() override {}
};

}  // namespace

TEST_CASE("what is heard before the first claim is sent asks for no second one") {
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

TEST_CASE("who is stopped while it looks after a reconnect leaves its place to others") {
  IdlePollerBench bench(rule_for("work"), 0);
  bench.begin();
  bench.sources.back()->handler.on_back();
  const std::size_t looks = bench.redis.looks;
  while (bench.redis.looks == looks) bench.timers.run_due(bench.clock.now());
  bench.poller->set_quiet(true);
  bench.settle_down();
  std::vector<std::unique_ptr<Guest>> guests;
  for (std::size_t i = 0; i < IdlePolls::least_back; ++i) {
    guests.push_back(std::make_unique<Guest>(bench.idle));
    CHECK(guests.back()->come_in());
  }
}

TEST_CASE("in a crowded line what a run of its own sets free is another's, until it is told") {
  IdlePollerBench bench(rule_for("work", 2), 1);
  bench.redis.line = Line::crowded;
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

TEST_CASE("an end that leaves its item to rest sets a place in the fleet free all the same") {
  ListConfig rule = rule_for("work", 2);
  rule.circular().cooldown = 10s;
  IdlePollerBench bench(rule, 2);
  bench.lock(1, 2);
  SUBCASE("where the fleet was full, it claims at once") {
    bench.redis.too_few = ClaimEnd::fleet_full;
    bench.begin();
    bench.unlock(1);
    bench.end("run1");
    CHECK(bench.log.back() == "start 1");
  }
  SUBCASE("elsewhere it waits for the end of the rest") {
    bench.begin();
    const std::size_t claims = bench.redis.claims;
    bench.end("run1");
    CHECK(bench.redis.claims == claims);
  }
}

TEST_CASE("the more wait in the line, the less often each looks at what nobody tells of") {
  IdlePollerBench bench(rule_for("work", 2), 1);
  bench.redis.line = Line::crowded;
  bench.lock(0, 1);
  const auto looks_with = [&](std::size_t others) {
    bench.redis.others_in_line = others;
    bench.sources.back()->handler.on_turn();  // that is how it learns how many others there are
    bench.run_for(5s);
    const std::size_t before = bench.redis.looks;
    bench.run_for(20s);
    return bench.redis.looks - before;
  };
  bench.begin();
  const std::size_t with_one = looks_with(1);
  const std::size_t with_seven = looks_with(7);
  const std::size_t with_many = looks_with(999);
  CHECK(with_one >= 60);
  CHECK(with_seven <= with_one / 3);
  CHECK(with_many <= with_one / 6);
  CHECK(with_many >= 8);  // about two seconds at most, as for any list
  SUBCASE("it takes what is free, whoever's turn it is: they would have come") {
    bench.unlock(0);
    bench.run_for(3s);
    CHECK(bench.sources.back()->manners.back() == Manner::overdue);
    CHECK(bench.poller->runs().size() == 1);
  }
  SUBCASE("but not what it is told of") {
    bench.unlock(0);
    bench.sources.back()->handler.on_turn();
    bench.settle_down();
    CHECK(bench.sources.back()->manners.back() == Manner::in_turn);
    CHECK(bench.poller->runs().size() == 1);
  }
}

TEST_CASE("who waits in the line claims now and then, the less often the more they are") {
  IdlePollerBench bench(rule_for("work", 2), 1);
  bench.redis.line = Line::crowded;
  bench.lock(0, 1);
  const auto claims_with = [&](std::size_t others) {
    bench.redis.others_in_line = others;
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
  CHECK(with_two.first >= 3);  // after 4, 8 and 16 s
  CHECK(with_two.second >= 2);
  CHECK(with_two.second <= 4);
  CHECK(with_many.first <= 1);
  CHECK(with_many.second >= 2);
  CHECK(with_many.second <= 4);
}

TEST_CASE("thousands of lists that wait in their lines claim by what is spare, and are looked at") {
  constexpr std::size_t lists = 5000;
  ManyLists world;
  world.redis.line = Line::crowded;
  world.redis.others_in_line = 1;
  world.begin(lists, true);
  world.run_for(2s);
  const std::size_t claims = world.redis.claims, looks = world.redis.looks;
  world.run_for(10s);
  const std::size_t claimed = world.redis.claims - claims, looked = world.redis.looks - looks;
  CHECK(claimed >= 100);
  CHECK(claimed + looked / 256 <= 1000 + 100);
  CHECK(looked >= lists * 10);
}

TEST_CASE("whose turn comes while the host has no place passes it on") {
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

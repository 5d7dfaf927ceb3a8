// What a poller does while its list has nothing for it.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <w8y/poller.hpp>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using w8y::store::Line;
using w8y::store::Manner;
using w8y::store::Scan;
using namespace std::chrono_literals;

namespace {

constexpr auto ends = Scan::ends;
constexpr auto whole = Scan::whole;

/// One poller, and a list of so many items: "0", "1", …
struct Bench : World {
  Bench(Rule rule, std::size_t items) {
    poller =
        std::make_unique<Poller>(PollerHost{clock, timers, places, *this}, share(std::move(rule)));
    poller->allow_ahead(false);
    for (std::size_t i = 0; i < items; ++i) redis.lists["work"].push_back(std::to_string(i));
  }
  void begin() {
    auto source = make_source(nullptr, idle, poller->source_handler());
    poller->begin(std::move(source), make_executor(nullptr, {}, poller->run_handler()));
    settle_down();
  }
  void lock(std::size_t from, std::size_t to, std::optional<Duration> time = std::nullopt) {
    for (std::size_t i = from; i < to; ++i) {
      auto& lock = redis.locks["work" + std::to_string(i)];
      lock.value = "rest";
      if (time) lock.until = clock.now() + *time;
    }
  }
  void unlock(std::size_t item) { redis.locks.erase("work" + std::to_string(item)); }
  void end(const RunId& run) {
    executors.back()->end_at(run, Duration{0}, Exited{0});
    settle_down();
  }
  std::vector<Scan> scans() { return std::exchange(sources.back()->scans, {}); }

  Places places{clock, 0};
  IdlePolls idle{timers, clock, 100, 7};
  std::unique_ptr<Poller> poller;
};

using Scans = std::vector<Scan>;

}  // namespace

TEST_CASE("a list in which all is locked is looked at, and claimed from when something is free") {
  Bench bench(rule_for("work"), 20);
  bench.lock(0, 20);
  bench.begin();
  CHECK(bench.scans() == Scans{whole});
  bench.run_for(10s);
  CHECK(bench.scans().empty());
  CHECK(bench.redis.looks >= 30);
  bench.unlock(7);
  bench.run_for(400ms);
  CHECK(bench.scans() == Scans{ends});
  CHECK(bench.log == std::vector<std::string>{"start 7"});
}

TEST_CASE("what is free in the middle of a long list is found by a second, whole pass") {
  Bench bench(rule_for("work"), 20);
  bench.redis.ends = 4;
  bench.lock(0, 20);
  bench.begin();
  bench.scans();
  bench.unlock(12);
  bench.run_for(1s);
  CHECK(bench.scans() == Scans{ends, whole});
  CHECK(bench.log == std::vector<std::string>{"start 12"});
}

TEST_CASE("where items rest, the next one is awaited by its hint and found at the end") {
  Rule rule = rule_for("work");
  rule.circular().cooldown = 10s;
  Bench bench(rule, 20);
  bench.redis.ends = 4;
  bench.lock(4, 20, 1h);
  bench.begin();
  for (const char* run : {"run1", "run2", "run3", "run4"}) bench.end(run);
  CHECK(bench.scans() == Scans{whole, whole, whole, whole, whole});
  CHECK(bench.poller->state() == PollerState::resting);
  // Behind those that rest for an hour, which a whole pass has left where they were.
  auto& items = bench.redis.lists["work"];
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return std::stoi(a) < std::stoi(b); });
  bench.redis.looks = 0;
  bench.run_for(9900ms);
  CHECK(bench.scans().empty());
  CHECK(bench.redis.looks > 0);
  bench.run_for(200ms);
  CHECK(bench.scans().front() == ends);
  CHECK(bench.log.back() == "start 0");
}

TEST_CASE("who hears of what is added looks at an empty list less often") {
  Bench bench(rule_for("work"), 0);
  bench.redis.hears = true;
  bench.begin();
  bench.run_for(20s);
  CHECK(bench.redis.looks >= 7);
  CHECK(bench.redis.looks <= 14);
  bench.redis.lists["work"] = {"a"};
  bench.sources.back()->handler.on_wake();
  bench.settle_down();
  CHECK(bench.log == std::vector<std::string>{"start a"});
}

TEST_CASE("hints that find work are no idle polls: they cost no budget") {
  Rule rule = rule_for("work");
  rule.circular().cooldown = 5ms;
  Bench bench(rule, 1);
  bench.begin();
  for (int run = 1; run <= 500; ++run) {
    bench.end("run" + std::to_string(run));
    bench.run_for(6ms);
  }
  CHECK(bench.redis.history.size() == 500);
}

TEST_CASE("a wake-up while a look is out comes first; the look's answer changes nothing") {
  Bench bench(rule_for("work"), 1);
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
  Bench bench(rule_for("work"), 3);
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

TEST_CASE("a changed rule while a claim is out sends no second one, though Redis is just back") {
  Bench bench(rule_for("work"), 3);
  bench.lock(0, 3);
  bench.begin();
  bench.redis.claim_takes = 100ms;
  const std::size_t before = bench.redis.claims;
  auto& handler = bench.sources.back()->handler;
  handler.on_back();  // asks to be let in, from the loop
  handler.on_wake();  // claims at once
  CHECK(bench.redis.claims == before + 1);
  bench.poller->use(share(rule_for("work")),
                    bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  bench.run_for(50ms);
  CHECK(bench.redis.claims == before + 1);
}

TEST_CASE("a wake-up while a whole pass goes on is not forgotten") {
  Bench bench(rule_for("work"), 20);
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

TEST_CASE("a pass that is owed is made in its turn, however often hints come before it") {
  Rule rule = rule_for("work");
  rule.circular().cooldown = 20ms;
  Bench bench(rule, 1000);
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

TEST_CASE("in a long list, what own runs set free is looked for at the ends first") {
  Bench bench(rule_for("work", 5), 1000);
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

TEST_CASE("where it is our own runs that hold the list, what they set free is found at once") {
  Bench bench(rule_for("work", 1000), 800);
  bench.redis.ends = 8;
  bench.redis.pass_calls = 5;
  bench.begin();
  CHECK(bench.poller->runs().size() == 800);
  bench.end("run500");
  CHECK(bench.poller->runs().size() == 800);
}

TEST_CASE("ends that always have something don't hide the rest, nor cost a pass for each run") {
  Bench bench(rule_for("work"), 1000);
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
  // Half of the idle budget: eight commands each 160 ms.
  CHECK(std::count(scans.begin(), scans.end(), whole) <= 6);
  CHECK(scans.size() >= 500);
}

TEST_CASE("a single free item among very many costs one pass, and then looks at the ends") {
  Bench bench(rule_for("work"), 1000);
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

TEST_CASE("an item whose lock runs out is seen, however often another one's rest ends") {
  Rule rule = rule_for("work");
  rule.circular().cooldown = 20ms;
  Bench bench(rule, 1000);
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

// ---- what wakes it

TEST_CASE("a flood of messages makes it claim no more often than a poll would, and not for long") {
  Bench bench(rule_for("work"), 3);
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
  Bench bench(rule_for("work"), 3);
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

TEST_CASE("what is fruitful is followed without a pause") {
  Bench bench(rule_for("work"), 3);
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

TEST_CASE("what wakes many lists is paid by the idle budget") {
  World world;
  Places places(world.clock, 0);
  IdlePolls idle{world.timers, world.clock, 100, 7};
  std::vector<std::unique_ptr<Poller>> pollers;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "l" + std::to_string(i);
    world.redis.lists[name] = {"a"};
    world.redis.locks[name + "a"] = {"rest", std::nullopt};
    pollers.push_back(std::make_unique<Poller>(PollerHost{world.clock, world.timers, places, world},
                                               share(rule_for(name))));
    auto& poller = *pollers.back();
    poller.begin(world.make_source(nullptr, idle, poller.source_handler()),
                 world.make_executor(nullptr, {}, poller.run_handler()));
  }
  world.redis.look_cost = 1.0 / 256;
  world.settle_down();
  const std::size_t before = world.redis.claims;
  for (int i = 0; i < 100; ++i) {
    for (auto* source : world.sources) source->handler.on_wake();
    world.run_for(10ms);
  }
  CHECK(world.redis.claims - before <= 210);
}

TEST_CASE("after a reconnect all lists claim, a bounded number at a time") {
  World world;
  Places places(world.clock, 0);
  IdlePolls idle{world.timers, world.clock, 100, 7};
  constexpr std::size_t lists = 2000;
  std::vector<std::unique_ptr<Poller>> pollers;
  for (std::size_t i = 0; i < lists; ++i) {
    pollers.push_back(std::make_unique<Poller>(PollerHost{world.clock, world.timers, places, world},
                                               share(rule_for("l" + std::to_string(i)))));
    auto& poller = *pollers.back();
    poller.begin(world.make_source(nullptr, idle, poller.source_handler()),
                 world.make_executor(nullptr, {}, poller.run_handler()));
  }
  world.redis.look_cost = 1.0 / 256;
  world.settle_down();
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

// ---- where others wait too

TEST_CASE("in a crowded line what a run of its own sets free is another's, until it is told") {
  Bench bench(rule_for("work", 2), 1);
  bench.redis.line = Line::crowded;
  bench.begin();
  const std::size_t before = bench.redis.claims;
  bench.end("run1");
  CHECK(bench.redis.claims == before);
  auto& handler = bench.sources.back()->handler;
  handler.on_others(true);
  bench.run_for(50ms);
  CHECK(bench.redis.claims == before);
  handler.on_turn();
  bench.settle_down();
  CHECK(bench.redis.claims == before + 1);
  CHECK(bench.poller->runs().size() == 1);
}

TEST_CASE("others are left to look after a list, and after a silence it takes what is free") {
  Bench bench(rule_for("work", 2), 1);
  bench.redis.line = Line::crowded;
  bench.lock(0, 1);
  bench.begin();
  auto& handler = bench.sources.back()->handler;
  handler.on_others(true);
  bench.run_for(1s);  // it may have slept already
  const std::size_t before = bench.redis.claims + bench.redis.looks;
  for (int i = 0; i < 40; ++i) {
    handler.on_others(true);
    bench.run_for(250ms);
  }
  CHECK(bench.redis.claims + bench.redis.looks == before);
  bench.unlock(0);
  bench.run_for(850ms);
  CHECK(bench.sources.back()->manners.back() == Manner::overdue);
  CHECK(bench.poller->runs().size() == 1);
  // Where nobody sets anything free any more, each looks for itself, as ever.
  bench.lock(0, 1);
  bench.end("run1");
  bench.lock(0, 1);
  bench.run_for(5s);
  const std::size_t looks = bench.redis.looks;
  bench.run_for(2s);
  CHECK(bench.redis.looks >= looks + 5);
}

TEST_CASE("whose turn comes while the host has no place passes it on") {
  Bench bench(rule_for("work"), 2);
  bench.begin();
  bench.run_for(1s);
  CHECK(bench.poller->state() == PollerState::full);
  const std::size_t before = bench.sources.back()->left_line;
  bench.sources.back()->handler.on_turn();
  CHECK(bench.sources.back()->left_line == before + 1);
  bench.poller->set_quiet(true);
  CHECK(bench.sources.back()->left_line > before + 1);
}

// Budget of polls that idle lists share.
#include "core/idle_polls.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace idle_polls_test {
namespace {

struct Sleeper : IdlePolls::Sleeper {
  explicit Sleeper(IdlePolls& idle, double expects = 1)
      : IdlePolls::Sleeper(idle), expected(expects), cost(expects) {}
  void back_due() override { been_back(); }
  void poll_due(bool hinted, double paid) override {
    ++polls;
    if (total != nullptr) ++*total;
    hints += hinted ? 1 : 0;
    if (pays_after) charge(cost - paid);
    if (debt > 0) owe(debt);
    sleep({hint, 1, expected, false, reported});
  }
  std::optional<Duration> hint;
  bool reported = false;
  double expected;
  double cost;
  double debt = 0;
  bool pays_after = true;
  std::size_t polls = 0;
  std::size_t hints = 0;
  std::size_t* total = nullptr;  ///< also counts each poll, with those of other sleepers
};

using Sleepers = std::vector<std::unique_ptr<Sleeper>>;

Sleepers make_sleepers(IdlePolls& idle, std::size_t count, double expected, double cost,
                       bool reported = false) {
  Sleepers sleepers;
  for (std::size_t i = 0; i < count; ++i) {
    sleepers.push_back(std::make_unique<Sleeper>(idle, expected));
    sleepers.back()->cost = cost;
    sleepers.back()->reported = reported;
    sleepers.back()->sleep({std::nullopt, 1, expected, false, reported});
  }
  return sleepers;
}

struct Polls {
  std::size_t total = 0;
  std::size_t least = SIZE_MAX;
};

Polls polls_of(const Sleepers& sleepers) {
  Polls polls;
  for (const auto& sleeper : sleepers) {
    polls.total += sleeper->polls;
    polls.least = std::min(polls.least, sleeper->polls);
  }
  return polls;
}

}  // namespace

TEST_CASE("10,000 idle lists share the budget, and each is polled") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  const Sleepers sleepers = make_sleepers(idle, 10'000, 1, 1);
  world.run_for(1000s);
  const Polls polls = polls_of(sleepers);
  CHECK(polls.total <= 100 * 1001);
  CHECK(polls.total >= 100 * 700);
  CHECK(polls.least >= 5);
}

TEST_CASE("if many lists share a command, each of 10,000 lists is polled every 1 to 2 s") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  const Sleepers sleepers = make_sleepers(idle, 10'000, 1.0 / 256, 1.0 / 256);
  world.run_for(100s);
  const Polls polls = polls_of(sleepers);
  CHECK(polls.total <= 10'000 * 100);
  CHECK(polls.least >= 70);
}

TEST_CASE("lists whose changes Redis reports are polled together, every 30 s") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  const Sleepers reported = make_sleepers(idle, 10'000, 1.0 / 300, 1.0 / 300, true);
  std::size_t polls = 0;
  for (const auto& sleeper : reported) sleeper->total = &polls;
  // They delay no other list.
  const Sleepers others = make_sleepers(idle, 10, 1, 1);
  std::size_t wakes = 0, before = 0;
  for (int i = 0; i < 30'000; ++i) {
    world.run_for(10ms);
    wakes += polls > before ? 1 : 0;
    before = polls;
  }
  CHECK(before >= 9 * 10'000);
  CHECK(before <= 12 * 10'000);
  CHECK(wakes <= 301);  // one second of them shares a command
  CHECK(polls_of(others).least >= 300 * 3);
}

TEST_CASE(
    "lists whose changes Redis reports are polled eight times less often than slow polls of "
    "others") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  const Sleepers others = make_sleepers(idle, 1000, 1, 1);  // each is polled every 12.5 s
  const Sleepers reported = make_sleepers(idle, 1, 1.0 / 300, 1.0 / 300, true);
  world.run_for(30min);
  CHECK(reported[0]->polls >= 15);
  CHECK(reported[0]->polls <= 22);
}

TEST_CASE("a host polls shared lists less often if more hosts share them") {
  const auto polls_with = [](std::size_t hosts) {
    World world;
    IdlePolls idle(world.timers, world.clock, 100, 1);
    idle.share_with(hosts);
    const Sleepers sleepers = make_sleepers(idle, 100, 1.0 / 100, 1.0 / 100);
    world.run_for(100s);
    return polls_of(sleepers).total;
  };
  const std::size_t alone = polls_with(1);
  CHECK(alone >= 100 * 100 * 3);
  CHECK(polls_with(100) >= alone * 9 / 10);  // the budget is sufficient for them
  CHECK(polls_with(1000) <= 100 * 60);
  CHECK(polls_with(1000) >= 100 * 60 / 2);
  CHECK(polls_with(0) >= alone * 9 / 10);
}

TEST_CASE("batches that cost more than expected stay within the budget, and later recover") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  const Sleepers sleepers = make_sleepers(idle, 1000, 0.001, 1);
  world.run_for(100s);
  // A batch that has started is finished, even if the budget is used up.
  CHECK(polls_of(sleepers).total <= 100 * 101 + 1000);
  for (const auto& sleeper : sleepers) {
    sleeper->cost = 0.001;
    sleeper->polls = 0;
  }
  world.run_for(20s);
  CHECK(polls_of(sleepers).least >= 30);
}

TEST_CASE("a hinted poll comes earlier, but stays within the budget") {
  World world;
  IdlePolls idle(world.timers, world.clock, 10, 1);
  Sleeper sleeper(idle);
  sleeper.sleep({50ms});
  world.run_for(51ms);
  CHECK(sleeper.polls == 1);
  CHECK(sleeper.hints == 1);
  for (int i = 0; i < 100; ++i) {
    sleeper.sleep({1ms});
    world.run_for(2ms);
  }
  CHECK(sleeper.polls <= 13);
}

TEST_CASE("a hinted poll precedes routine polls, and does not starve them") {
  World world;
  IdlePolls idle(world.timers, world.clock, 10, 1);
  Sleeper routine(idle);
  Sleeper hinted(idle);
  hinted.hint = 0ms;
  routine.charge(20);
  routine.sleep({});
  world.run_for(400ms);
  REQUIRE(routine.polls == 0);  // it is due, and the budget is used up
  hinted.sleep({0ms});
  while (routine.polls + hinted.polls == 0) world.run_for(1ms);
  CHECK(hinted.polls == 1);
  world.run_for(10s);
  CHECK(routine.polls >= 5);
}

TEST_CASE("a list with a higher interval factor is polled less often") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleeper sleeper(idle);
  sleeper.sleep({std::nullopt, 8});
  world.run_for(1400ms);
  CHECK(sleeper.polls == 0);
  world.run_for(1300ms);
  CHECK(sleeper.polls >= 1);
}

TEST_CASE("a full scan is charged to its own list, from half of the budget") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleepers sleepers = make_sleepers(idle, 20, 1, 1);
  for (std::size_t i = 0; i < 2; ++i) sleepers[i]->debt = 400;
  world.run_for(160s);
  for (std::size_t i = 0; i < 20; ++i) {
    CAPTURE(i);
    if (i < 2) {
      // A poll costs 400 commands. Each list gets 25 commands per second, and a share of the budget
      // for which no poll is planned.
      CHECK(sleepers[i]->polls >= 8);
      CHECK(sleepers[i]->polls <= 15);
    } else {
      CHECK(sleepers[i]->polls >= 300);
    }
  }
  const Polls all = polls_of(sleepers);
  const std::size_t passes = sleepers[0]->polls + sleepers[1]->polls;
  CHECK(all.total + 400 * (passes - 2) <= 160 * 100);  // two scans are still a deficit
}

TEST_CASE("a small deficit is worked off at the same time as large ones") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleepers deep = make_sleepers(idle, 3, 1, 1);
  for (auto& sleeper : deep) sleeper->owe(1000);
  for (auto& sleeper : deep) sleeper->sleep({});
  world.run_for(1s);
  Sleeper shallow(idle);
  shallow.owe(20);
  shallow.sleep({});
  world.run_for(700ms);
  CHECK(shallow.polls == 0);  // 20 commands at a quarter of 100 per second
  world.run_for(700ms);
  CHECK(shallow.polls >= 1);
  for (const auto& sleeper : deep) CHECK(sleeper->polls == 0);
}

TEST_CASE(
    "a hinted poll may come before a deficit is worked off, and a periodic poll comes after it") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleeper soon(idle);
  soon.owe(500);
  soon.sleep({1s, 1, 1});
  world.run_for(1100ms);
  CHECK(soon.hints == 1);
  world.run_for(3700ms);
  CHECK(soon.polls == 1);
  world.run_for(1s);
  CHECK(soon.polls > 1);
  CHECK(soon.hints == 1);

  Sleeper late(idle);
  late.owe(50);
  late.sleep({20s, 1, 1});
  world.run_for(400ms);
  CHECK(late.polls == 0);
  world.run_for(800ms);
  CHECK(late.polls >= 1);
  CHECK(late.hints == 0);
}

TEST_CASE("a deficit that grows all the time is cancelled after 30 s") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleeper deep(idle);
  for (int second = 0; second < 29; ++second) {
    deep.owe(300);
    world.run_for(1s);
    CHECK(deep.owes());
  }
  deep.owe(300);
  world.run_for(1s);
  CHECK(!deep.owes());
}

TEST_CASE("destroying or waking a client with a deficit cancels its next poll") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleeper woken(idle);
  woken.owe(50);
  woken.sleep({});
  woken.wake();
  auto gone = std::make_unique<Sleeper>(idle);
  gone->owe(1000);
  gone->sleep({});
  gone.reset();
  world.run_for(3s);
  CHECK(woken.polls == 0);
  woken.sleep({});
  world.run_for(1s);
  CHECK(woken.polls >= 1);
}

TEST_CASE("hosts that start together poll at different times") {
  World world;
  std::vector<std::unique_ptr<IdlePolls>> hosts;
  std::vector<std::vector<Instant>> turns(10);
  struct Noting : IdlePolls::Sleeper {
    Noting(IdlePolls& idle, World& there, std::vector<Instant>& notes)
        : IdlePolls::Sleeper(idle), world(there), at(notes) {}
    void poll_due(bool, double) override { at.push_back(world.clock.now()); }
    void back_due() override { been_back(); }
    World& world;
    std::vector<Instant>& at;
  };
  std::vector<std::unique_ptr<Noting>> sleepers;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    hosts.push_back(std::make_unique<IdlePolls>(world.timers, world.clock, 100, 1000 + 77 * i));
    sleepers.push_back(std::make_unique<Noting>(*hosts.back(), world, turns[i]));
    sleepers.back()->sleep({});
  }
  world.run_for(1s);
  std::vector<Instant> all;
  for (const auto& each : turns) {
    REQUIRE(each.size() == 1);
    all.push_back(each[0]);
  }
  std::sort(all.begin(), all.end());
  CHECK(std::unique(all.begin(), all.end()) - all.begin() >= 8);
}

TEST_CASE("a hinted poll of a list that shares its commands costs a full command") {
  World world;
  IdlePolls idle(world.timers, world.clock, 10, 1);
  Sleeper sleeper(idle, 1.0 / 256);
  sleeper.pays_after = false;
  for (int i = 0; i < 500; ++i) {
    sleeper.sleep({1ms, 1, 1.0 / 256});
    world.run_for(2ms);
  }
  CHECK(sleeper.polls <= 21);
}

TEST_CASE("lists that are due at once are polled in order of creation, even if some leave") {
  struct Ordered : IdlePolls::Sleeper {
    Ordered(IdlePolls& idle, std::vector<int>& told, int as)
        : IdlePolls::Sleeper(idle), order(told), number(as) {}
    void back_due() override {}
    void poll_due(bool, double) override {
      order.push_back(number);
      if (leaves != nullptr) leaves->wake();
    }
    std::vector<int>& order;
    int number;
    Ordered* leaves = nullptr;
  };
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  std::vector<int> order;
  std::vector<std::unique_ptr<Ordered>> sleepers;
  for (int i = 0; i < 8; ++i) sleepers.push_back(std::make_unique<Ordered>(idle, order, i));
  for (const int i : {5, 0, 7, 2, 6, 1, 4, 3})
    sleepers[static_cast<std::size_t>(i)]->sleep({10ms, 1, 1});
  sleepers[2]->wake();
  sleepers[6].reset();
  sleepers[1]->leaves = sleepers[4].get();
  world.run_for(100ms);
  CHECK(order == std::vector<int>{0, 1, 3, 5, 7});
}

TEST_CASE("a list with a huge deficit is polled within 31 s, or within 1 s if it shares commands") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleeper deep(idle);
  deep.owe(1e6);
  deep.sleep({});
  Sleeper sharer(idle, 1.0 / 256);
  sharer.owe(1e6);
  sharer.sleep({std::nullopt, 1, 1.0 / 256});
  world.run_for(1s);
  CHECK(deep.polls == 0);
  CHECK(sharer.polls >= 1);
  world.run_for(30s);
  CHECK(deep.polls >= 1);
}

TEST_CASE("lists are polled within 32 s of any number of unplanned commands") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleeper sleeper(idle);
  sleeper.sleep({});
  sleeper.charge(100'000);
  world.run_for(29s);
  CHECK(sleeper.polls == 0);
  world.run_for(3s);
  CHECK(sleeper.polls >= 1);
}

TEST_CASE("polls that were planned under a higher load are brought forward") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  const Sleepers sleepers = make_sleepers(idle, 320, 1, 1);  // the last one is due after 4 s
  for (std::size_t i = 0; i < 310; ++i) sleepers[i]->wake();
  world.run_for(IdlePolls::review + IdlePolls::shortest_pause * 2);
  for (std::size_t i = 310; i < 320; ++i) CHECK(sleepers[i]->polls >= 1);
}

TEST_CASE("planned polls are brought forward sooner if another list is due meanwhile") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  const Sleepers sleepers = make_sleepers(idle, 320, 1, 1);
  for (std::size_t i = 5; i < 310; ++i) sleepers[i]->wake();
  world.run_for(IdlePolls::early_review + IdlePolls::shortest_pause * 3);
  for (std::size_t i = 310; i < 320; ++i) CHECK(sleepers[i]->polls >= 1);
}

TEST_CASE("a list with a higher interval factor is not brought forward to the polls of others") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleepers sleepers = make_sleepers(idle, 320, 1, 1);
  Sleeper patient(idle);
  patient.sleep({});  // the first poll may come at any time
  for (const auto& sleeper : sleepers) sleeper->wake();
  sleepers.resize(1);
  sleepers.front()->sleep({});
  patient.sleep({std::nullopt, 8});
  world.run_for(1500ms);
  CHECK(sleepers.front()->polls >= 3);
  CHECK(patient.polls == 0);
  world.run_for(1000ms);
  CHECK(patient.polls >= 1);
}

TEST_CASE("a hinted poll may come later than the periodic poll of a list with a deficit") {
  World world;
  IdlePolls idle(world.timers, world.clock, 100, 1);
  Sleeper sleeper(idle);
  sleeper.owe(500);
  sleeper.sleep({5s, 1, 1});
  world.run_for(4900ms);
  CHECK(sleeper.polls == 0);
  world.run_for(200ms);
  CHECK(sleeper.hints == 1);
}

/// List that requests admission. Its reply arrives when the server has served all earlier requests.
struct Returning : IdlePolls::Sleeper {
  struct Server {
    World& world;
    Duration each;  ///< service time of one reply
    Instant busy_until{};
    Duration longest{0};
    std::size_t answers = 0;
  };
  Returning(IdlePolls& idle, Server& at) : IdlePolls::Sleeper(idle), server(at) {}
  void poll_due(bool, double) override {}
  void back_due() override {
    const Instant asked = server.world.clock.now();
    server.busy_until = std::max(server.busy_until, asked) + server.each;
    answer.set(server.busy_until, [this, asked] {
      server.longest = std::max(server.longest, server.world.clock.now() - asked);
      ++server.answers;
      been_back();
    });
  }
  Server& server;
  Timer answer{server.world.timers};
};

TEST_CASE("when 100 hosts reconnect at once, each waits at most 1.5 s for a reply") {
  World world;
  Returning::Server server{world, 1ms};
  std::vector<std::unique_ptr<IdlePolls>> hosts;
  std::vector<std::unique_ptr<Returning>> lists;
  for (unsigned i = 0; i < 100; ++i) {
    hosts.push_back(std::make_unique<IdlePolls>(world.timers, world.clock, 100, i));
    for (int k = 0; k < 100; ++k) lists.push_back(std::make_unique<Returning>(*hosts[i], server));
  }
  for (auto& list : lists) list->come_back();
  world.run_for(11s);
  CHECK(server.answers == lists.size());
  // 8 requests of each host take 800 ms of the server. All requests at once would take 10 s.
  CHECK(server.longest <= 1500ms);
}

TEST_CASE("the lists of a single host are admitted as fast as replies arrive") {
  World world;
  Returning::Server server{world, 20us};
  IdlePolls idle(world.timers, world.clock, 100, 1);
  std::vector<std::unique_ptr<Returning>> lists;
  for (int k = 0; k < 10'000; ++k) lists.push_back(std::make_unique<Returning>(idle, server));
  for (auto& list : lists) list->come_back();
  world.run_for(220ms);
  CHECK(server.answers == lists.size());
}

}  // namespace idle_polls_test

// What a reload changes, and what it leaves alone.
#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "supervisor_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("reload: what runs is not disturbed, a list that is gone drains, a new one begins") {
  SupervisorBench house;
  house.redis.lists["a"] = {"a1"};
  house.redis.lists["b"] = {"b1"};
  house.redis.lists["c"] = {"c1"};
  house.apply({rule_for("a"), rule_for("b")});
  CHECK(house.supervisor.running() == 2);
  ListConfig changed = rule_for("a", 5);
  house.apply({changed, rule_for("c")});
  CHECK(house.supervisor.generation() == 2);
  CHECK(house.plan.lists.size() == 3);
  CHECK(house.supervisor.running() == 3);
  CHECK(house.supervisor.closing().size() == 1);
  for (auto* executor : house.executors) {
    CHECK(executor->stopped.empty());
    CHECK(executor->killed.empty());
  }
  house.executors[1]->end_at(house.executors[1]->started[0].run, 0s, Exited{0});
  house.settle_down();
  CHECK(house.supervisor.running() == 2);
}

TEST_CASE("an unchanged config changes nothing and probes only what was refused") {
  SupervisorBench house;
  house.fake_prober.answers["/bin/no"] = Ineligibility{"not executable"};
  house.apply({rule_for("a"), rule_for("no")});
  house.fake_prober.probed.clear();
  const std::string hash = house.supervisor.config_hash();
  house.apply({rule_for("a"), rule_for("no")});
  CHECK(house.plan.empty());
  CHECK(house.supervisor.config_hash() == hash);
  CHECK(house.fake_prober.probed == std::vector<std::string>{"/bin/no"});
}

TEST_CASE("until the probes have answered the running configuration stays whole") {
  SupervisorBench house;
  house.redis.lists["a"] = {"a1", "a2"};
  house.apply({rule_for("a")});
  house.fake_prober.held = true;
  house.apply({rule_for("a", 2), rule_for("slow")});
  CHECK(house.supervisor.reloading());
  CHECK(house.supervisor.running() == 1);
  for (auto& answer : house.fake_prober.waiting) answer();
  house.settle_down();
  CHECK(house.applied == 2);
  CHECK(house.supervisor.running() == 2);
}

TEST_CASE("a list that goes and comes back doesn't run more than its limit") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2", "3", "4"};
  house.apply({rule_for("a", 2)});
  CHECK(house.supervisor.running() == 2);
  house.apply({rule_for("a", 2)}, true);  // a new connection: new sources
  CHECK(house.supervisor.running() == 2);
  CHECK(house.list("a").retired().size() == 1);
  house.executors[0]->end_at(house.executors[0]->started[0].run, 0s, Exited{0});
  house.settle_down();
  CHECK(house.supervisor.running() == 2);
  CHECK(house.list("a").poller()->runs().size() == 1);
}

TEST_CASE("a rule that needs something else is not held to what the old one lacked") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1"};
  house.apply({rule_for("a")});
  const RunId run = house.executors[0]->started[0].run;
  ListConfig changed = rule_for("a");
  changed.child.edit().cwd = "/srv";
  house.fake_prober.probed.clear();
  house.apply({changed});
  CHECK(house.fake_prober.probed == std::vector<std::string>{"/bin/a"});
  house.executors[0]->end_at(run, 0s, NotStarted{"no", false, false, true});
  house.settle_down();
  CHECK(house.list("a").state() == ServingState::serving);
  CHECK(house.list("a").running() == 1);
}

TEST_CASE("a list that was taken out and put in again counts what still runs") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2"};
  house.apply({rule_for("a")});
  house.apply({});
  house.apply({rule_for("a")});
  CHECK(house.supervisor.running() == 1);
  CHECK(house.supervisor.closing().empty());
  house.executors[0]->end_at(house.executors[0]->started[0].run, 0s, Exited{0});
  house.settle_down();
  CHECK(house.supervisor.running() == 1);
  CHECK(house.list("a").poller()->runs().size() == 1);
}

TEST_CASE("a list with another lock_key is served at once, beside runs under the old one") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2"};
  house.apply({rule_for("a")});
  ListConfig changed = rule_for("a");
  changed.circular().lock_key = "proc";
  house.apply({changed});
  REQUIRE(house.list("a").poller() != nullptr);
  CHECK(house.list("a").poller()->rule().circular().lock_key == "proc");
  CHECK(house.list("a").retired().size() == 1);
  CHECK(house.list("a").retired()[0]->runs().size() == 1);
}

TEST_CASE("answers to the probes of an earlier reload don't count for a later one") {
  SupervisorBench house;
  house.fake_prober.held = true;
  house.apply({rule_for("a"), rule_for("b")});
  const auto first = std::exchange(house.fake_prober.waiting, {});
  house.apply({rule_for("a"), rule_for("b")});
  for (const auto& answer : first) answer();
  CHECK(house.applied == 0);
  for (const auto& answer : house.fake_prober.waiting) answer();
  CHECK(house.applied == 1);
}

TEST_CASE("many new lists begin some at a time, and all of them") {
  SupervisorBench house;
  std::vector<ListConfig> rules;
  for (int i = 0; i < 1000; ++i) rules.push_back(rule_for("l" + std::to_string(i)));
  Config config;
  config.supervisor.host = "here";
  for (const auto& rule : rules) config.lists[rule.prefix] = share(ListConfig(rule));
  const auto claiming = [&] {
    return std::count_if(
        house.supervisor.lists().begin(), house.supervisor.lists().end(),
        [](const auto& list) { return list.second->poller()->state() == PollerState::claiming; });
  };
  house.supervisor.apply(std::make_shared<const Config>(std::move(config)), false,
                         [&](const ReloadPlan&) { ++house.applied; });
  while (house.applied == 0 && house.timers.run_due(house.clock.now()) > 0) {
  }
  REQUIRE(house.applied == 1);
  CHECK(claiming() > 0);
  CHECK(claiming() < 500);

  SUBCASE("as things are") {
    house.settle_down();
    CHECK(house.redis.claims >= 1000);
  }
  SUBCASE("not while the host is quiet") {
    const std::size_t claims = house.redis.claims;
    house.supervisor.set_quiet(true);
    house.settle_down();
    CHECK(house.redis.claims == claims);
    house.supervisor.set_quiet(false);
    house.settle_down();
    CHECK(house.redis.claims >= 1000);
  }
  SUBCASE("some are gone before their turn") {
    house.apply({rule_for("l1")});
    CHECK(house.supervisor.lists().size() == 1);
    CHECK(house.list("l1").poller()->state() == PollerState::resting);
  }
}

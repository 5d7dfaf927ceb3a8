// Reload of the config: changed and unchanged lists.
#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "core/schedule_settings.hpp"
#include "supervisor_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a reload keeps active runs, drains removed lists and starts new ones") {
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

TEST_CASE("a reload applies settings derived from other lists, without a change in its plan") {
  SupervisorBench house;
  ListConfig pages = rule_for("pages");
  pages.source = SourceSettings::of(SourceKind::schedule);
  pages.schedule().queues = {"P"};
  house.apply({pages});
  ListConfig beside = pages;
  beside.schedule().shared.others = {{"M", CatchUp::one, "mails"}};
  house.apply({beside});
  CHECK(house.plan.empty());
  CHECK(house.list("pages").config().schedule().shared.has_job("x:M"));
}

TEST_CASE("a reload of an unchanged config probes only ineligible lists") {
  SupervisorBench house;
  house.fake_prober.replies["/bin/no"] = Ineligibility{"not executable"};
  house.apply({rule_for("a"), rule_for("no")});
  house.fake_prober.probed.clear();
  const std::string hash = house.supervisor.config_hash();
  house.apply({rule_for("a"), rule_for("no")});
  CHECK(house.plan.empty());
  CHECK(house.supervisor.config_hash() == hash);
  CHECK(house.fake_prober.probed == std::vector<std::string>{"/bin/no"});
}

TEST_CASE("a reload keeps the running config until all probes have ended") {
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

TEST_CASE("a list that a reload recreates does not exceed its limit") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2", "3", "4"};
  house.apply({rule_for("a", 2)});
  CHECK(house.supervisor.running() == 2);
  house.apply({rule_for("a", 2)}, true);  // a new connection, so new sources
  CHECK(house.supervisor.running() == 2);
  CHECK(house.list("a").retired().size() == 1);
  house.executors[0]->end_at(house.executors[0]->started[0].run, 0s, Exited{0});
  house.settle_down();
  CHECK(house.supervisor.running() == 2);
  CHECK(house.list("a").poller()->runs().size() == 1);
}

TEST_CASE("a missing prerequisite of the old list config does not affect the new one") {
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

TEST_CASE("a list that is removed and added again counts its active runs") {
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

TEST_CASE("a list with a new lock_key is served at once, while runs with the old key finish") {
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

TEST_CASE("probes of an earlier reload do not count for a later one") {
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

TEST_CASE("many new lists start in batches until all have started") {
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

  SUBCASE("on a host that is running") {
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
  SUBCASE("some lists are removed before they start") {
    house.apply({rule_for("l1")});
    CHECK(house.supervisor.lists().size() == 1);
    CHECK(house.list("l1").poller()->state() == PollerState::idle);
  }
}

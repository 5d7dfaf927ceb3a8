#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "core/gearman_settings.hpp"
#include "core/schedule_settings.hpp"
#include "supervisor_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a host serves what its executors can, and says once why not the others") {
  SupervisorBench house;
  house.fake_prober.answers["/bin/gone"] = Ineligibility{"not found"};
  ListConfig needy = rule_for("needy");
  needy.requires_caps = {"gpu"};
  house.redis.lists["work"] = {"a"};
  house.redis.lists["needy"] = {"b"};
  house.apply({rule_for("work"), rule_for("gone"), needy});
  CHECK(house.list("work").state() == ServingState::serving);
  CHECK(house.list("gone").refusal() == "not found");
  CHECK(house.list("needy").refusal() == "lacks \"gpu\"");
  CHECK(count(house.log, "start a") == 1);
  CHECK(count(house.log, "start b") == 0);

  house.run_for(10min);
  CHECK(count(house.log, "refused gone: not found") == 1);
  CHECK(count({house.fake_prober.probed}, "/bin/gone") >= 9);

  house.fake_prober.answers.erase("/bin/gone");
  house.run_for(61s);
  CHECK(house.list("gone").state() == ServingState::serving);
}

TEST_CASE("what vanishes in use: the run counts for nothing, the list is refused and comes back") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2"};
  ListConfig rule = rule_for("a", 2);
  rule.max_failures = 1;
  house.apply({rule});
  REQUIRE(house.executors[0]->started.size() == 2);
  const NotStarted lack{"can't change to folder /mnt: No such file or directory", false, false,
                        true};
  for (const Claim& claim : house.executors[0]->started)
    house.executors[0]->end_at(claim.run, 0s, lack);
  house.settle_down();
  CHECK(house.list("a").state() == ServingState::ineligible);
  CHECK(house.list("a").refusal() == lack.reason);
  CHECK(count(house.log, "refused a: " + lack.reason) == 1);
  CHECK(house.redis.history.empty());
  CHECK(house.redis.failures["a1"] == 0);
  CHECK(house.redis.failures["a2"] == 0);
  CHECK(house.redis.locks["a1"].value.empty());
  CHECK(house.redis.locks["a2"].value.empty());
  CHECK(house.ended == 0);
  CHECK(house.executors[0]->started.size() == 2);
  CHECK(house.list("a").counters().claimed == 0);

  house.fake_prober.answers["/bin/a"] = Ineligibility{lack.reason, true};
  house.run_for(10min);
  CHECK(count(house.log, "refused a: " + lack.reason) == 1);
  house.fake_prober.answers.clear();
  house.run_for(61s);
  CHECK(house.list("a").state() == ServingState::serving);
  CHECK(house.list("a").running() == 2);
}

TEST_CASE("what only runs meet is tried once per probe_interval, not in a circle") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2", "3"};
  std::size_t tries = 0;
  house.apply({rule_for("a")});
  for (int minute = 0; minute < 10; ++minute) {
    auto& executor = *house.executors.back();
    tries += executor.started.size();
    if (!executor.started.empty())
      executor.end_at(executor.started.back().run, 0s, NotStarted{"no", false, false, true});
    house.run_for(60s);
  }
  CHECK(tries == 10);
  for (const auto& [item, failures] : house.redis.failures) CHECK(failures == 0);
}

TEST_CASE("drain: waits, then SIGTERM; a second call skips the wait; then it is drained once") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2"};
  house.apply({rule_for("a")});
  int drained = 0;
  house.supervisor.drain([&] { ++drained; });
  house.run_for(20s);
  CHECK(house.executors[0]->stopped.empty());
  SUBCASE("the deadline") {
    house.run_for(11s);
    CHECK(house.executors[0]->stopped.size() == 1);
  }
  SUBCASE("a second call") {
    house.supervisor.drain({});
    house.settle_down();
    CHECK(house.executors[0]->stopped.size() == 1);
  }
  house.run_for(1s);
  CHECK(drained == 1);
  CHECK(house.supervisor.state() == SupervisorState::drained);
  CHECK(house.executors[0]->started.size() == 1);
  CHECK(std::holds_alternative<Cancelled>(house.redis.history.back().outcome));
  CHECK(house.redis.locks["a1"].value.empty());
}

TEST_CASE("a list is looked after by every host that has it, until it is gone") {
  SupervisorBench house;
  house.fake_prober.answers["/bin/mix"] = Ineligibility{"not found"};
  ListConfig rule = rule_for("mix");
  rule.source = ScheduleSettings{{"A"}, true, OnFailure::die, {}};
  house.apply({rule, rule_for("work")});
  CHECK(house.list("mix").state() == ServingState::ineligible);
  REQUIRE(house.maintenance.all.size() == 1);
  FakeUpkeep* const first = *house.maintenance.all.begin();

  SUBCASE("what goes wrong is told") {
    first->handler.on_maintenance_error("mix-timeline is a string");
    CHECK(count(house.log, "upkeep mix: mix-timeline is a string") == 1);
  }
  SUBCASE("a changed rule is used, by the same") {
    rule.weight = 7;
    house.apply({rule});
    CHECK(*house.maintenance.all.begin() == first);
    CHECK(first->rule->weight == 7);
    CHECK(house.maintenance.made == 1);
  }
  SUBCASE("another connection: another one") {
    house.apply({rule}, true);
    CHECK(house.maintenance.all.size() == 1);
    CHECK(house.maintenance.made == 2);
  }
  SUBCASE("not enabled, and enabled again") {
    rule.enabled = false;
    house.apply({rule});
    CHECK(house.maintenance.all.empty());
    rule.enabled = true;
    house.apply({rule});
    CHECK(house.maintenance.all.size() == 1);
  }
  SUBCASE("gone from the config") {
    house.apply({rule_for("work")});
    CHECK(house.maintenance.all.empty());
  }
  SUBCASE("a drain") {
    house.supervisor.drain({});
    house.settle_down();
    CHECK(house.maintenance.all.empty());
  }
  SUBCASE("a hold, until it ends") {
    house.supervisor.set_hold("host old uses format 0");
    CHECK(house.maintenance.all.empty());
    rule.weight = 7;
    house.apply({rule});
    CHECK(house.maintenance.all.empty());
    house.supervisor.set_hold("");
    REQUIRE(house.maintenance.all.size() == 1);
    CHECK((*house.maintenance.all.begin())->rule->weight == 7);
  }
}

TEST_CASE("quiet holds every list, new ones too, until it ends") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1"};
  house.redis.lists["b"] = {"1"};
  house.supervisor.set_quiet(true);
  house.apply({rule_for("a")});
  CHECK(house.supervisor.running() == 0);
  house.apply({rule_for("a"), rule_for("b")});
  CHECK(house.supervisor.running() == 0);
  house.supervisor.set_quiet(false);
  house.settle_down();
  CHECK(house.supervisor.running() == 2);
}

TEST_CASE("a hold stops lists that claim from Redis, not those of Gearman, and ends beside quiet") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1"};
  house.redis.lists["g"] = {"1"};
  house.supervisor.set_hold("host old uses format 0");
  ListConfig jobs = rule_for("g");
  jobs.source = GearmanSettings{};
  house.apply({rule_for("a"), jobs});
  CHECK(house.supervisor.hold(rule_for("a")) == "host old uses format 0");
  CHECK(house.supervisor.hold(jobs).empty());
  CHECK(house.list("a").running() == 0);
  CHECK(house.list("g").running() == 1);

  // The list changes its kind, and back: its runs follow the hold.
  house.apply({rule_for("a"), rule_for("g")});
  house.redis.lists["g"] = {"2"};
  house.run_for(1s);
  CHECK(count(house.log, "start 2") == 0);

  house.supervisor.set_quiet(true);
  house.supervisor.set_hold("");
  house.settle_down();
  CHECK(house.list("a").running() == 0);
  house.supervisor.set_quiet(false);
  house.settle_down();
  CHECK(house.list("a").running() == 1);
  CHECK(house.list("g").running() == 1);
}

TEST_CASE("cancel finds a run wherever it is") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1"};
  house.apply({rule_for("a")});
  const RunId run = house.executors[0]->started[0].run;
  CHECK_FALSE(house.supervisor.cancel("nobody"));
  CHECK(house.supervisor.cancel(run));
  house.settle_down();
  REQUIRE(house.redis.history.size() == 1);
  CHECK(std::get<Cancelled>(house.redis.history[0].outcome).by_operator);
  CHECK(house.redis.failures["a1"] == 0);
}

TEST_CASE("a whole day of a host with many lists in milliseconds") {
  SupervisorBench house;
  house.runs_take = 5s;
  house.idle_commands = 1;  // what takes time here is polling
  std::vector<ListConfig> rules;
  for (int i = 0; i < 20; ++i) {
    ListConfig rule = rule_for("list" + std::to_string(i), 2);
    rule.circular().cooldown = 10min;
    rules.push_back(rule);
    for (int j = 0; j < 5; ++j) house.redis.lists[rule.prefix].push_back(std::to_string(j));
  }
  house.apply(rules);
  house.run_for(24h);
  // Each item every ten minutes, and what it waits for its list's turn to be polled.
  CHECK(house.ended > 12000);
  CHECK(house.ended < 14400);
}

TEST_CASE("claims that nothing answers are told from those of a slow list, and of lists at rest") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1"};
  house.apply({rule_for("a"), rule_for("b")});
  house.run_for(10min);  // all rest
  CHECK(house.supervisor.claims_unanswered_for() < 1s);
  house.redis.claim_takes = 1h;
  house.redis.lists["b"] = {"2"};
  const Instant asked = house.clock.now();
  house.run_for(10min);
  CHECK(house.supervisor.claims_unanswered_for() > 9min);
  CHECK(house.supervisor.claims_unanswered_for() <= house.clock.now() - asked);

  house.redis.claim_takes = 0s;
  house.apply({rule_for("a"), rule_for("b"), rule_for("new")});
  CHECK(house.supervisor.claims_unanswered_for() < 1s);  // that one was answered
  house.run_for(1h);
  CHECK(house.supervisor.claims_unanswered_for() < 1s);
}

TEST_CASE("what makes all lists claim is paced by the answers") {
  SupervisorBench house;
  std::vector<ListConfig> rules;
  for (int i = 0; i < 1000; ++i) rules.push_back(rule_for("l" + std::to_string(i)));
  house.redis.claim_takes = 100ms;
  house.apply(rules);
  SUBCASE("their start") {}
  SUBCASE("another connection") {
    house.run_for(1s);
    house.redis.claims = house.redis.max_claims_out = 0;
    house.apply(rules, true);
  }
  SUBCASE("another rule for each") {
    house.run_for(1s);
    house.redis.claims = house.redis.max_claims_out = 0;
    for (ListConfig& rule : rules) rule.concurrency = 2;
    house.apply(rules);
  }
  SUBCASE("the end of quiet") {
    house.run_for(1s);
    house.supervisor.set_quiet(true);
    house.run_for(1s);
    house.redis.claims = house.redis.max_claims_out = 0;
    house.supervisor.set_quiet(false);
  }
  SUBCASE("a Redis that is back, with lists in which nothing is free") {
    for (int i = 0; i < 1000; ++i) {
      const std::string list = "l" + std::to_string(i);
      house.redis.lists[list] = {"a"};
      house.redis.locks[list + "a"] = {"rest", std::nullopt};
    }
    house.run_for(10s);
    house.redis.claims = house.redis.max_claims_out = 0;
    for (std::size_t i = 0; i < 1000; ++i) house.sources[i]->handler.on_back();
  }
  // A few take their turn of the idle budget meanwhile.
  house.run_for(90ms);
  CHECK(house.redis.claims >= IdlePolls::least_back);
  CHECK(house.redis.claims <= IdlePolls::least_back + 50);
  house.run_for(900ms);
  CHECK(house.redis.claims >= 1000);
  CHECK(house.redis.max_claims_out >= IdlePolls::most_back);
  CHECK(house.redis.max_claims_out <= IdlePolls::most_back + 50);
}

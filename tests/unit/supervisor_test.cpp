#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "core/gearman_settings.hpp"
#include "core/schedule_settings.hpp"
#include "supervisor_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a host serves eligible lists, and reports once why it is ineligible for others") {
  SupervisorBench house;
  house.fake_prober.replies["/bin/gone"] = Ineligibility{"not found"};
  ListConfig needy = rule_for("needy");
  needy.requires_caps = {"gpu"};
  house.redis.lists["work"] = {"a"};
  house.redis.lists["needy"] = {"b"};
  house.apply({rule_for("work"), rule_for("gone"), needy});
  CHECK(house.list("work").state() == ServingState::serving);
  CHECK(house.list("gone").refusal() == "not found (/bin/gone)");
  CHECK(house.list("needy").refusal() == "lacks \"gpu\"");
  CHECK(count(house.log, "start a") == 1);
  CHECK(count(house.log, "start b") == 0);

  house.run_for(10min);
  CHECK(count(house.log, "refused gone: not found") == 1);
  CHECK(count({house.fake_prober.probed}, "/bin/gone") >= 9);

  house.fake_prober.replies.erase("/bin/gone");
  house.run_for(61s);
  CHECK(house.list("gone").state() == ServingState::serving);
}

TEST_CASE(
    "a list whose prerequisite disappears is ineligible until it returns, and its run does not "
    "count") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2"};
  ListConfig rule = rule_for("a", 2);
  rule.max_failures = 1;
  house.apply({rule});
  REQUIRE(house.executors[0]->started.size() == 2);
  const NotStarted lack{"cannot change to directory /mnt: No such file or directory", false, false,
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

  house.fake_prober.replies["/bin/a"] = Ineligibility{lack.reason, true};
  house.run_for(10min);
  CHECK(count(house.log, "refused a: " + lack.reason) == 1);
  house.fake_prober.replies.clear();
  house.run_for(61s);
  CHECK(house.list("a").state() == ServingState::serving);
  CHECK(house.list("a").running() == 2);
}

TEST_CASE("a prerequisite that only runs detect is tried once per probe_interval") {
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

TEST_CASE("a drain waits, then stops all runs, and reports its end once") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1", "2"};
  house.apply({rule_for("a")});
  int drained = 0;
  house.supervisor.drain([&] { ++drained; });
  house.run_for(20s);
  CHECK(house.executors[0]->stopped.empty());
  SUBCASE("runs are stopped at the deadline") {
    house.run_for(11s);
    CHECK(house.executors[0]->stopped.size() == 1);
  }
  SUBCASE("runs are stopped at a second call") {
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

TEST_CASE("a list is maintained by each host that has it in its config") {
  SupervisorBench house;
  house.fake_prober.replies["/bin/mix"] = Ineligibility{"not found"};
  ListConfig rule = rule_for("mix");
  rule.source = ScheduleSettings{{"A"}, true, OnFailure::die, {}};
  house.apply({rule, rule_for("work")});
  CHECK(house.list("mix").state() == ServingState::ineligible);
  REQUIRE(house.maintenance.all.size() == 1);
  FakeUpkeep* const first = *house.maintenance.all.begin();

  SUBCASE("errors are reported") {
    first->handler.on_maintenance_error("mix-timeline is a string");
    CHECK(count(house.log, "upkeep mix: mix-timeline is a string") == 1);
  }
  SUBCASE("a changed list config is used by the same object") {
    rule.weight = 7;
    house.apply({rule});
    CHECK(*house.maintenance.all.begin() == first);
    CHECK(first->rule->weight == 7);
    CHECK(house.maintenance.made == 1);
  }
  SUBCASE("a new connection creates a new object") {
    house.apply({rule}, true);
    CHECK(house.maintenance.all.size() == 1);
    CHECK(house.maintenance.made == 2);
  }
  SUBCASE("a disabled list is not maintained until it is enabled") {
    rule.enabled = false;
    house.apply({rule});
    CHECK(house.maintenance.all.empty());
    rule.enabled = true;
    house.apply({rule});
    CHECK(house.maintenance.all.size() == 1);
  }
  SUBCASE("a list that is removed from the config is not maintained") {
    house.apply({rule_for("work")});
    CHECK(house.maintenance.all.empty());
  }
  SUBCASE("a drain ends the maintenance") {
    house.supervisor.drain({});
    house.settle_down();
    CHECK(house.maintenance.all.empty());
  }
  SUBCASE("a hold suspends the maintenance") {
    house.supervisor.set_hold("host old uses fleet format 0");
    CHECK(house.maintenance.all.empty());
    rule.weight = 7;
    house.apply({rule});
    CHECK(house.maintenance.all.empty());
    house.supervisor.set_hold("");
    REQUIRE(house.maintenance.all.size() == 1);
    CHECK((*house.maintenance.all.begin())->rule->weight == 7);
  }
}

TEST_CASE("a quiet host starts no runs, not even of new lists, until it resumes") {
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

TEST_CASE(
    "a hold stops lists that claim from Redis, but not Gearman lists, and is independent of "
    "quiet") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1"};
  house.redis.lists["g"] = {"1"};
  house.supervisor.set_hold("host old uses fleet format 0");
  ListConfig jobs = rule_for("g");
  jobs.source = GearmanSettings{};
  house.apply({rule_for("a"), jobs});
  CHECK(house.supervisor.hold(rule_for("a")) == "host old uses fleet format 0");
  CHECK(house.supervisor.hold(jobs).empty());
  CHECK(house.list("a").running() == 0);
  CHECK(house.list("g").running() == 1);

  // The list changes its source from Gearman to Redis. From then on the hold applies to its runs.
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

TEST_CASE("cancel finds a run of any list") {
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

TEST_CASE("a simulated day of a host with 20 lists has the expected number of runs") {
  SupervisorBench house;
  house.runs_take = 5s;
  house.idle_commands = 1;  // polling dominates the time of this test
  std::vector<ListConfig> rules;
  for (int i = 0; i < 20; ++i) {
    ListConfig rule = rule_for("list" + std::to_string(i), 2);
    rule.circular().cooldown = 10min;
    rules.push_back(rule);
    for (int j = 0; j < 5; ++j) house.redis.lists[rule.prefix].push_back(std::to_string(j));
  }
  house.apply(rules);
  house.run_for(24h);
  // Each item runs every 10 minutes, plus its wait for the next poll of the list.
  CHECK(house.ended > 12000);
  CHECK(house.ended < 14400);
}

TEST_CASE("claims without a reply are detected, and not confused with slow or idle lists") {
  SupervisorBench house;
  house.redis.lists["a"] = {"1"};
  house.apply({rule_for("a"), rule_for("b")});
  house.run_for(10min);  // all lists are idle
  CHECK(house.supervisor.claims_unanswered_for() < 1s);
  house.redis.claim_takes = 1h;
  house.redis.lists["b"] = {"2"};
  const Instant asked = house.clock.now();
  house.run_for(10min);
  CHECK(house.supervisor.claims_unanswered_for() > 9min);
  CHECK(house.supervisor.claims_unanswered_for() <= house.clock.now() - asked);

  house.redis.claim_takes = 0s;
  house.apply({rule_for("a"), rule_for("b"), rule_for("new")});
  CHECK(house.supervisor.claims_unanswered_for() < 1s);  // the reply to that claim has arrived
  house.run_for(1h);
  CHECK(house.supervisor.claims_unanswered_for() < 1s);
}

TEST_CASE("simultaneous claims of all lists are paced by the replies") {
  SupervisorBench house;
  std::vector<ListConfig> rules;
  for (int i = 0; i < 1000; ++i) rules.push_back(rule_for("l" + std::to_string(i)));
  house.redis.claim_takes = 100ms;
  house.apply(rules);
  SUBCASE("when lists start") {}
  SUBCASE("after a reconnect with new sources") {
    house.run_for(1s);
    house.redis.claims = house.redis.max_claims_out = 0;
    house.apply(rules, true);
  }
  SUBCASE("after a change of all list configs") {
    house.run_for(1s);
    house.redis.claims = house.redis.max_claims_out = 0;
    for (ListConfig& rule : rules) rule.concurrency = 2;
    house.apply(rules);
  }
  SUBCASE("after the host resumes") {
    house.run_for(1s);
    house.supervisor.set_quiet(true);
    house.run_for(1s);
    house.redis.claims = house.redis.max_claims_out = 0;
    house.supervisor.set_quiet(false);
  }
  SUBCASE("after an outage of Redis, with lists without a free item") {
    for (int i = 0; i < 1000; ++i) {
      const std::string list = "l" + std::to_string(i);
      house.redis.lists[list] = {"a"};
      house.redis.locks[list + "a"] = {"rest", std::nullopt};
    }
    house.run_for(10s);
    house.redis.claims = house.redis.max_claims_out = 0;
    for (std::size_t i = 0; i < 1000; ++i) house.sources[i]->handler.on_back();
  }
  // Some lists claim with the idle budget meanwhile.
  house.run_for(90ms);
  CHECK(house.redis.claims >= IdlePolls::least_back);
  CHECK(house.redis.claims <= IdlePolls::least_back + 50);
  house.run_for(900ms);
  CHECK(house.redis.claims >= 1000);
  CHECK(house.redis.max_claims_out >= IdlePolls::most_back);
  CHECK(house.redis.max_claims_out <= IdlePolls::most_back + 50);
}

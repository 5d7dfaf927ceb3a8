#include <doctest/doctest.h>

#include <w8y/supervisor.hpp>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace {

struct House : World {
  Supervisor supervisor{SupervisorHost{clock, timers, *this, *this, 7}};
  ReloadPlan plan;
  unsigned applied = 0;

  void apply(std::vector<Rule> rules, bool new_sources = false) {
    Config config;
    config.supervisor.host = "here";
    for (auto& rule : rules) {
      const std::string prefix = rule.prefix;
      config.lists[prefix] = share(std::move(rule));
    }
    config.supervisor.max_processes = max_processes;
    config.redis.idle_commands = idle_commands;
    supervisor.apply(std::make_shared<const Config>(std::move(config)), new_sources,
                     [this](const ReloadPlan& changes) {
                       plan = changes;
                       ++applied;
                     });
    settle_down();
  }
  const ServedList& list(const std::string& prefix) { return *supervisor.lists().at(prefix); }
  unsigned max_processes = 0;
  unsigned idle_commands = 100;
};

}  // namespace

TEST_CASE("a host serves what its executors can, and says once why not the others") {
  House house;
  house.fake_prober.answers["/bin/gone"] = Refusal{"not found"};
  Rule needy = rule_for("needy");
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

TEST_CASE("reload: what runs is not disturbed, a list that is gone drains, a new one begins") {
  House house;
  house.redis.lists["a"] = {"a1"};
  house.redis.lists["b"] = {"b1"};
  house.redis.lists["c"] = {"c1"};
  house.apply({rule_for("a"), rule_for("b")});
  CHECK(house.supervisor.running() == 2);
  Rule changed = rule_for("a", 5);
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
  House house;
  house.fake_prober.answers["/bin/no"] = Refusal{"not executable"};
  house.apply({rule_for("a"), rule_for("no")});
  house.fake_prober.probed.clear();
  const std::string hash = house.supervisor.config_hash();
  house.apply({rule_for("a"), rule_for("no")});
  CHECK(house.plan.empty());
  CHECK(house.supervisor.config_hash() == hash);
  CHECK(house.fake_prober.probed == std::vector<std::string>{"/bin/no"});
}

TEST_CASE("until the probes have answered the running configuration stays whole") {
  House house;
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
  House house;
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

TEST_CASE("what vanishes in use: the run counts for nothing, the list is refused and comes back") {
  House house;
  house.redis.lists["a"] = {"1", "2"};
  Rule rule = rule_for("a", 2);
  rule.max_failures = 1;
  house.apply({rule});
  REQUIRE(house.executors[0]->started.size() == 2);
  const NotStarted lack{"can't change to folder /mnt: No such file or directory", false, false,
                        true};
  for (const Claim& claim : house.executors[0]->started)
    house.executors[0]->end_at(claim.run, 0s, lack);
  house.settle_down();
  CHECK(house.list("a").state() == ServingState::refused);
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

  house.fake_prober.answers["/bin/a"] = Refusal{lack.reason, true};
  house.run_for(10min);
  CHECK(count(house.log, "refused a: " + lack.reason) == 1);
  house.fake_prober.answers.clear();
  house.run_for(61s);
  CHECK(house.list("a").state() == ServingState::serving);
  CHECK(house.list("a").running() == 2);
}

TEST_CASE("what only runs meet is tried once per probe_interval, not in a circle") {
  House house;
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

TEST_CASE("a rule that needs something else is not held to what the old one lacked") {
  House house;
  house.redis.lists["a"] = {"1"};
  house.apply({rule_for("a")});
  const RunId run = house.executors[0]->started[0].run;
  Rule changed = rule_for("a");
  changed.child.edit().cwd = "/srv";
  house.fake_prober.probed.clear();
  house.apply({changed});
  CHECK(house.fake_prober.probed == std::vector<std::string>{"/bin/a"});
  house.executors[0]->end_at(run, 0s, NotStarted{"no", false, false, true});
  house.settle_down();
  CHECK(house.list("a").state() == ServingState::serving);
  CHECK(house.list("a").running() == 1);
}

TEST_CASE("drain: waits, then SIGTERM; a second call skips the wait; then it is drained once") {
  House house;
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

TEST_CASE("quiet holds every list, new ones too, until it ends") {
  House house;
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

TEST_CASE("cancel finds a run wherever it is") {
  House house;
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
  House house;
  house.runs_take = 5s;
  house.idle_commands = 1;  // what takes time here is polling
  std::vector<Rule> rules;
  for (int i = 0; i < 20; ++i) {
    Rule rule = rule_for("list" + std::to_string(i), 2);
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

TEST_CASE("a list that was taken out and put in again counts what still runs") {
  House house;
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

TEST_CASE("another name of locks waits for the runs under the old one") {
  House house;
  house.redis.lists["a"] = {"1", "2"};
  house.apply({rule_for("a")});
  Rule changed = rule_for("a");
  changed.circular().lock_key = "proc";
  house.apply({changed});
  house.run_for(10s);
  CHECK(house.supervisor.running() == 1);
  CHECK(house.list("a").poller() == nullptr);
  house.executors[0]->end_at(house.executors[0]->started[0].run, 0s, Exited{0});
  house.settle_down();
  CHECK(house.list("a").poller() != nullptr);
  CHECK(house.supervisor.running() == 1);
}

TEST_CASE(
    "waiting for old locks ends with their leases, though the run goes on and can't be settled") {
  House house;
  house.redis.lists["a"] = {"1", "2"};
  house.apply({rule_for("a", 2)});
  REQUIRE(house.supervisor.running() == 2);
  Rule changed = rule_for("a", 3);
  changed.circular().lock_key = "proc";
  house.redis.settles = false;  // their Redis has died
  house.apply({changed}, true);
  house.run_for(10s);
  CHECK(house.list("a").poller() == nullptr);
  FakeList& old = *house.sources[0];
  old.handler.on_lease_lost(house.executors[0]->started[0].run);
  house.run_for(10s);
  CHECK(house.list("a").poller() == nullptr);  // the other lease is held

  SUBCASE("by both leases") {
    old.handler.on_lease_lost(house.executors[0]->started[1].run);
    house.settle_down();
    CHECK(house.supervisor.running() == 2);
  }
  SUBCASE("by the other run's end, which nobody can confirm") {
    house.executors[0]->end_at(house.executors[0]->started[1].run, 0s, Exited{0});
    house.settle_down();
  }
  REQUIRE(house.list("a").poller() != nullptr);
  CHECK(house.list("a").poller()->rule().circular().lock_key == "proc");
  CHECK(house.list("a").retired().size() == 1);
}

TEST_CASE("a reload back to the old lock_key ends the waiting at once") {
  House house;
  house.redis.lists["a"] = {"1", "2", "3"};
  house.apply({rule_for("a", 2)});
  Rule changed = rule_for("a", 2);
  changed.circular().lock_key = "proc";
  house.redis.settles = false;
  house.apply({changed}, true);
  REQUIRE(house.list("a").poller() == nullptr);
  house.apply({rule_for("a", 2)}, true);
  REQUIRE(house.list("a").poller() != nullptr);
  CHECK(house.list("a").poller()->state() != PollerState::drained);
  house.executors[0]->end_at(house.executors[0]->started[0].run, 0s, Exited{0});
  house.settle_down();
  CHECK(house.list("a").poller()->runs().size() == 1);
  house.apply({rule_for("a", 2)});  // and nothing waits for anything
  CHECK(house.supervisor.running() == 2);
}

TEST_CASE("answers to the probes of an earlier reload don't count for a later one") {
  House house;
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
  House house;
  std::vector<Rule> rules;
  for (int i = 0; i < 1000; ++i) rules.push_back(rule_for("l" + std::to_string(i)));
  Config config;
  config.supervisor.host = "here";
  for (const auto& rule : rules) config.lists[rule.prefix] = share(Rule(rule));
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

TEST_CASE("what makes all lists claim is paced by the answers") {
  House house;
  std::vector<Rule> rules;
  for (int i = 0; i < 1000; ++i) rules.push_back(rule_for("l" + std::to_string(i)));
  house.redis.claim_takes = 100ms;
  house.apply(rules);
  SUBCASE("their start") {}
  SUBCASE("another connection") {
    house.run_for(1s);
    house.redis.claims = house.redis.most_claims_out = 0;
    house.apply(rules, true);
  }
  SUBCASE("another rule for each") {
    house.run_for(1s);
    house.redis.claims = house.redis.most_claims_out = 0;
    for (Rule& rule : rules) rule.concurrency = 2;
    house.apply(rules);
  }
  SUBCASE("the end of quiet") {
    house.run_for(1s);
    house.supervisor.set_quiet(true);
    house.run_for(1s);
    house.redis.claims = house.redis.most_claims_out = 0;
    house.supervisor.set_quiet(false);
  }
  SUBCASE("a Redis that is back") {
    house.run_for(1s);
    house.redis.claims = house.redis.most_claims_out = 0;
    for (std::size_t i = 0; i < 1000; ++i) house.sources[i]->handler.on_back();
  }
  house.run_for(90ms);
  CHECK(house.redis.claims == IdlePolls::most_back);
  house.run_for(400ms);
  CHECK(house.redis.claims >= 1000);
  // A few take their turn of the idle budget meanwhile.
  CHECK(house.redis.most_claims_out <= IdlePolls::most_back + 50);
}

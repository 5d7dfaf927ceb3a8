#include "app/host_status.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app_support.hpp"

using namespace w8y;
using namespace w8y::app;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace host_status_test {
namespace {

/// List state from Redis, by list name.
struct Facts final : ListStateSource {
  explicit Facts(const Clock& of) : clock(of) {}
  void add_to(ListStatus& status) const override {
    if (const auto found = known.find(status.prefix); found != known.end()) {
      status.quarantined = found->second.quarantined;
      status.pause = found->second.pause;
    }
  }
  [[nodiscard]] WallTime now() const override { return clock.wall(); }

  const Clock& clock;
  std::map<std::string, ListStatus> known;
};

struct Host : World {
  Facts facts{clock};
  Supervisor supervisor{SupervisorHost{clock, timers, *this, *this}};

  void apply(std::vector<ListConfig> rules, unsigned host_concurrency = 0) {
    auto config = std::make_shared<Config>();
    config->hash = "abc";
    config->supervisor.host_concurrency = host_concurrency;
    for (ListConfig& rule : rules) config->lists.emplace(rule.prefix, share(rule));
    supervisor.apply(std::move(config), false, [](const ReloadPlan&) {});
  }
  ListStatus list(const std::string& prefix = "work") {
    settle_down();
    return find_list(supervisor, facts, prefix).value();
  }
};

}  // namespace

TEST_CASE("the status of a host has its config and the number of slots in use") {
  Host host;
  host.redis.lists["work"] = {"a", "b", "c"};
  host.apply({rule_for("work", 2)}, 5);
  host.settle_down();
  HostStatus status;
  status.host = "me";  // fields that the supervisor does not set keep their values
  fill_from(status, host.supervisor, host.clock);
  CHECK(status.host == "me");
  CHECK(status.config_hash == "abc");
  CHECK(status.generation == 1);
  CHECK(status.slots_limit == 5);
  CHECK(status.slots_used == 2);
  CHECK(status.now == host.clock.wall());
}

TEST_CASE("the status of a running list has its runs") {
  Host host;
  host.redis.lists["work"] = {"a"};
  host.apply({rule_for("work", 2)});
  const ListStatus status = host.list();
  CHECK(status.state == ListState::running);
  CHECK(status.program == "/bin/work");
  CHECK(status.running == 1);
  CHECK(status.concurrency == 2);
  REQUIRE(status.runs.size() == 1);
  CHECK(status.runs.front().item.beginning == "a");
  CHECK(status.runs.front().pid == 42);
  CHECK(status.runs.front().state == RunStatus::State::running);
  CHECK_FALSE(find_list(host.supervisor, host.facts, "other"));
}

TEST_CASE("the status of a list has the reason why it does not run") {
  Host host;
  ListConfig rule = rule_for("work");
  ListState state = ListState::idle;
  std::string why;
  SUBCASE("the list has no items") {
    why = "no items";
  }
  SUBCASE("no item is free") {
    host.redis.lists["work"] = {"a"};
    host.redis.locks["worka"] = {"elsewhere", std::nullopt};
    why = "no item is free";
  }
  SUBCASE("the list is disabled") {
    rule.enabled = false;
    state = ListState::disabled;
    why = "enabled = false";
  }
  SUBCASE("the concurrency is 0") {
    rule.concurrency = 0;
    state = ListState::disabled;
    why = "concurrency = 0";
  }
  SUBCASE("the executor does not exist") {
    host.fake_prober.replies["/bin/work"] = Ineligibility{"not found"};
    state = ListState::ineligible;
    why = "not found (/bin/work)";
  }
  SUBCASE("Redis is unavailable") {
    host.redis.reachable = false;
    state = ListState::unavailable;
  }
  SUBCASE("the host is quiet") {
    host.supervisor.set_quiet(true);
    state = ListState::quiet;
  }
  host.apply({rule});
  const ListStatus status = host.list();
  CHECK(std::string(state_name(status.state)) == state_name(state));
  CHECK(status.why == why);
}

TEST_CASE("a list paused by an operator is paused, even while runs are active") {
  Host host;
  host.redis.lists["work"] = {"a"};
  host.apply({rule_for("work")});
  Pause pause;
  pause.reason = "for repair";
  host.facts.known["work"].quarantined = 3;
  host.facts.known["work"].pause = pause;
  const ListStatus status = host.list();
  CHECK(status.state == ListState::paused);
  CHECK(status.why.find("for repair") != std::string::npos);
  CHECK(status.quarantined == 3);
  CHECK(status.running == 1);
}

TEST_CASE("a list that waits for a slot of the host is full") {
  Host host;
  host.redis.lists["a"] = {"x"};
  host.redis.lists["b"] = {"y"};
  host.apply({rule_for("a"), rule_for("b")}, 1);
  host.settle_down();
  const bool a_runs = host.list("a").state == ListState::running;
  const ListStatus waits = host.list(a_runs ? "b" : "a");
  CHECK(waits.state == ListState::full);
  CHECK(waits.why == "host_concurrency is reached");
}

TEST_CASE("a list whose host has a shortage is starved") {
  Host host;
  host.redis.lists["work"] = {"a"};
  host.apply({rule_for("work")});
  host.settle_down();
  host.executors.back()->end_at(host.executors.back()->started.front().run, 0s,
                                NotStarted{"no processes", false, true});
  const ListStatus status = host.list();
  CHECK(status.state == ListState::starved);
  CHECK(status.why == "no processes");
}

TEST_CASE("a list removed from the config is shown until its last run has ended") {
  Host host;
  host.redis.lists["work"] = {"a"};
  host.apply({rule_for("work")});
  host.settle_down();
  host.apply({});
  CHECK(host.list().state == ListState::draining);
  CHECK(host.list().running == 1);
  host.executors.back()->end_at(host.executors.back()->started.front().run, 0s, Exited{0});
  host.settle_down();
  CHECK_FALSE(find_list(host.supervisor, host.facts, "work"));
}

TEST_CASE("the status of a list has its last error") {
  Host host;
  host.redis.lists["work"] = {"a"};
  host.apply({rule_for("work")});
  host.settle_down();
  host.executors.back()->end_at(host.executors.back()->started.front().run, 0s, Exited{3});
  const ListStatus status = host.list();
  CHECK(status.last_error == "exit status 3");
  CHECK(status.counters.crashed == 1);
}

}  // namespace host_status_test

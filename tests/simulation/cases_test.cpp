// Worlds with fixed hosts and fixed faults. Each reproduces a fault that a random world has found,
// and stays the same when the generator of random worlds changes.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "simulation/host.hpp"
#include "simulation/invariants.hpp"
#include "simulation/invariants_jobs.hpp"
#include "simulation/server.hpp"
#include "store/scripts.hpp"
#include "store/thoonk/keys.hpp"

using namespace w8y;
using namespace w8y::sim;
using namespace std::chrono_literals;

namespace cases_test {
namespace {

/// Maximum time from a push to its claim by a host with a free slot, as in scenario_tracking.cpp.
constexpr Duration max_silence = 1s;
constexpr unsigned idle_commands = 10;
/// Maximum number of commands of a host in 10 s, as in scenario.cpp: the budget of 10 s, the saved
/// budget of the second before, and 25 commands that are not for idle lists.
constexpr std::uint64_t max_idle_commands = idle_commands * 11 + 25;

/// Hosts h1, h2, … of one configuration on one Redis.
struct Fleet {
  Fleet(unsigned hosts, unsigned lists) {
    use_network(&network, &jitter);
    redis.watcher = &promises;
    redis.permit_tracking(true);
    network.add(redis);
    for (unsigned i = 1; i <= hosts; ++i) {
      const std::string name = "h" + std::to_string(i);
      machines.push_back(std::make_unique<Host>(world, network, children, promises, name));
      machines.back()->write_config(config_of(name, lists));
    }
  }
  ~Fleet() {
    for (const auto& each : machines) each->die();
    world.clear();
  }
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  static std::string config_of(const std::string& name, unsigned lists) {
    std::string text = "[redis]\nurl = \"rediss://redis1\"\ncommand_timeout = \"5s\"\n";
    text += "idle_commands = " + std::to_string(idle_commands) + '\n';
    text += "[supervisor]\nhost = \"" + name + "\"\n";
    for (unsigned i = 1; i <= lists; ++i)
      text += "[lists.list" + std::to_string(i) + "]\ncommand = [\"/bin/work\", \"{}\"]\n";
    return text;
  }
  Host& host(unsigned number) { return *machines.at(number - 1); }
  void pass(Duration time) { world.run_until(world.now() + time); }
  /// Adds an item that another program has locked for longer than any case takes.
  void put_locked(const std::string& list, const std::string& item,
                  const std::string& lock = "run:other:1:01K0000000000000000000000A") {
    redis.command("user", {"RPUSH", list + ":list", item});
    redis.command("go-w8y", {"SET", list + ":lock:" + item, lock, "PX", "600000"});
  }
  /// Pushes an item; returns whether a host claims it in time.
  bool claims_pushed(const std::string& list) {
    const Instant since = world.now();
    redis.command("user", {"RPUSH", list + ":list", "pushed"});
    pass(max_silence);
    return promises.visited("redis1", list, "pushed") >= since;
  }
  /// Returns the number of commands of a host while a user sends `words` 300 times in 10 s.
  std::uint64_t commands_while(unsigned number, const Words& words) {
    const std::uint64_t before = redis.commands(host(number).name());
    for (int i = 0; i < 300; ++i) {
      redis.command("user", words);
      pass(Duration(10s) / 300);
    }
    return redis.commands(host(number).name()) - before;
  }
  [[nodiscard]] std::size_t waiting(const std::string& list) {
    const auto* line = redis.keys().find<SortedSet>(list + ":waiting");
    return line == nullptr ? 0 : line->size();
  }

  World world{1};
  Invariants promises{world};
  Server redis{world, "redis1"};
  Network network{world};
  Children children{world, promises};
  Random jitter{1};
  std::vector<std::unique_ptr<Host>> machines;
};

/// Three hosts in the wait queue of each of their lists, whose only item is locked. They poll each
/// list at intervals of seconds, so that only a message makes them claim within `max_silence`.
struct WaitingFleet : Fleet {
  static constexpr unsigned lists = 20;
  WaitingFleet() : Fleet(3, lists) {
    for (unsigned i = 1; i <= lists; ++i) put_locked("list" + std::to_string(i), "locked");
    for (unsigned i = 1; i <= 3; ++i) {
      host(i).start();
      pass(10s);
    }
    REQUIRE(waiting("list1") == 3);
  }
};

/// Two hosts with a feed of jobs, and a second Redis. The first host delays a failed job.
struct FleetWithDelayedJob : Fleet {
  FleetWithDelayedJob() : Fleet(2, 0) {
    network.add(other);
    promises.redis_of = [this](const std::string& name) {
      return std::optional(host(name == "h1" ? 1 : 2).server());
    };
    promises.add(std::make_unique<JobWatch>(promises, "inbox"));
    for (unsigned i = 1; i <= 2; ++i) host(i).write_config(config_at("redis1", i));
    redis.run("user", store::scripts::feed_create, {keys.config, "feeds"},
              {"inbox", "job", "", "an instance"});
    redis.command("user", {"HSET", keys.items, "job1", "payload"});
    redis.command("user", {"ZADD", keys.published, std::to_string(redis.keys().now_ms()), "job1"});
    redis.command("user", {"LPUSH", keys.ids, "job1"});
    children.outages["inbox"] = world.now() + 1min;
    host(1).start();
    for (int i = 0; i < 100 && promises.runs_of("h1") == 0; ++i) pass(100ms);
    REQUIRE(promises.runs_of("h1") == 1);
    host(2).start();
    pass(2s);
    REQUIRE(promises.count().claims == 1);
  }
  ~FleetWithDelayedJob() {
    for (const auto& each : machines) each->die();  // before the second Redis
    world.clear();
  }
  FleetWithDelayedJob(const FleetWithDelayedJob&) = delete;
  FleetWithDelayedJob& operator=(const FleetWithDelayedJob&) = delete;
  static std::string config_at(const std::string& server, unsigned number) {
    return "[redis]\nurl = \"rediss://" + server + "\"\n[supervisor]\nhost = \"h" +
           std::to_string(number) +
           "\"\n[lists.inbox]\nsource = \"job\"\ncommand = [\"/bin/work\", \"{}\"]\n"
           "backoff = { min = \"30s\", max = \"30s\" }\n";
  }

  const store::FeedKeys keys{"inbox"};
  Server other{world, "redis2"};
};

}  // namespace

TEST_CASE("waiting hosts claim an item within one second of its push") {
  WaitingFleet fleet;
  CHECK(fleet.claims_pushed("list1"));
}

// Found by the seed 400651010: the turn went to a dead host, whose entry was still in the wait
// queue. The other hosts did not claim before they polled the list again.
TEST_CASE("waiting hosts claim a pushed item within one second although a waiter has died") {
  WaitingFleet fleet;
  fleet.host(1).die();
  fleet.pass(2s);
  REQUIRE(fleet.waiting("list1") == 3);
  CHECK(fleet.claims_pushed("list1"));
}

TEST_CASE("a host subscribes again after its connections broke") {
  Fleet fleet(1, 20);
  for (unsigned i = 1; i <= 20; ++i)
    fleet.put_locked("list" + std::to_string(i), "locked", "go-w8y");
  fleet.host(1).start();
  fleet.pass(10s);
  fleet.redis.break_connections();
  fleet.pass(30s);
  CHECK(fleet.claims_pushed("list1"));
}

// Found by the seed 400650213: a host that had connected while an ACL refused SUBSCRIBE received
// neither control commands nor wake-ups until its connection broke.
TEST_CASE("a host subscribes when an ACL that refused SUBSCRIBE allows it again") {
  Fleet fleet(1, 20);
  for (unsigned i = 1; i <= 20; ++i)
    fleet.put_locked("list" + std::to_string(i), "locked", "go-w8y");
  fleet.host(1).start();
  fleet.pass(10s);
  fleet.redis.forbid("SUBSCRIBE");
  fleet.redis.break_connections();
  fleet.pass(5s);
  fleet.redis.forbid({});
  fleet.pass(30s);
  CHECK(fleet.claims_pushed("list1"));
}

TEST_CASE("frequent messages on the wake channel cost no more than idle_commands") {
  Fleet fleet(1, 1);
  for (int i = 0; i < 1000; ++i) fleet.put_locked("list1", "item" + std::to_string(i));
  fleet.host(1).start();
  fleet.pass(20s);
  CHECK(fleet.commands_while(1, {"PUBLISH", "list1:wake", "free"}) <= max_idle_commands);
}

// Found by the seed 293325395: Redis reports each change of a list. The host peeked
// at the list after each of them, and no peek counted in the idle budget.
TEST_CASE("a list that changes without free items costs no more than idle_commands") {
  Fleet fleet(1, 1);
  fleet.put_locked("list1", "locked");
  fleet.host(1).start();
  fleet.pass(20s);
  CHECK(fleet.commands_while(1, {"RPUSH", "list1:list", "locked"}) <= max_idle_commands);
}

TEST_CASE("a host claims again when an ACL that refused its scripts allows them") {
  for (const std::string permission : {"EVAL", "EVALSHA"}) {
    CAPTURE(permission);
    Fleet fleet(1, 1);
    fleet.redis.command("user", {"RPUSH", "list1:list", "item"});
    fleet.redis.forbid(permission);
    fleet.host(1).start();
    fleet.pass(20s);
    const Instant since = fleet.world.now();
    // The first use of each script is by EVAL, the next ones are by EVALSHA.
    CHECK(fleet.promises.visited("redis1", "list1", "item") < since - 10s);
    fleet.redis.forbid({});
    fleet.pass(5s);
    CHECK(fleet.promises.visited("redis1", "list1", "item") >= since);
  }
}

// Found by the seed 179584397601212: the invariant expected the job to be delayed.
TEST_CASE("a host that moves to another Redis cancels the jobs that it delays") {
  FleetWithDelayedJob fleet;
  fleet.host(1).write_config(FleetWithDelayedJob::config_at("redis2", 1));
  fleet.host(1).reload();
  fleet.pass(2s);
  CHECK(fleet.promises.count().claims == 2);
  CHECK_FALSE(fleet.promises.broken());
}

TEST_CASE("the invariant of delays is broken when a delayed job is queued and its host stays") {
  FleetWithDelayedJob fleet;
  fleet.redis.command("user", {"ZREM", fleet.keys.claimed, "job1"});
  fleet.redis.command("user", {"HDEL", fleet.keys.taken, "job1"});
  fleet.redis.command("user", {"DEL", fleet.keys.lease("job1")});
  fleet.redis.command("user", {"LPUSH", fleet.keys.ids, "job1"});
  fleet.pass(10s);
  REQUIRE(fleet.promises.broken());
  CHECK(fleet.promises.broken()->promise == "a delay is respected");
}

}  // namespace cases_test

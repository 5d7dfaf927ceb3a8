// Host that cannot start processes: lists wait and resume, and no item has failed.
#include <doctest/doctest.h>

#include "core/ended_run.hpp"
#include "core/poller.hpp"
#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace shortage_breaker_test {
namespace {

/// One poller on a host that can start `most` runs at a time.
struct Bench : World {
  explicit Bench(ListConfig rule, std::optional<std::size_t> most) {
    const bool once = !rule.supervised;
    poller =
        std::make_unique<Poller>(PollerHost{clock, timers, places, *this}, share(std::move(rule)));
    redis.lists["work"] = {"a", "b", "c", "d"};
    auto source = make_source(nullptr, idle, poller->source_handler());
    auto made = make_executor(nullptr, {}, poller->run_handler());
    executors.back()->short_of = most;
    if (once) poller->set_budget(1);
    poller->begin(std::move(source), made);
    settle_down();
  }
  FakeExecutor& executor() { return *executors.back(); }
  [[nodiscard]] std::size_t locked() const {
    return static_cast<std::size_t>(
        std::count_if(redis.locks.begin(), redis.locks.end(),
                      [](const auto& lock) { return !lock.second.value.empty(); }));
  }

  SlotPool places{clock, 0};
  IdlePolls idle{timers, clock, 100, 7};
  std::unique_ptr<Poller> poller;
};

using Log = std::vector<std::string>;

}  // namespace

TEST_CASE("a shortage of the host is no failure of the item, and leaves no lock") {
  ListConfig rule = rule_for("work", 4);
  rule.max_failures = 1;
  Bench bench(rule, 0);
  CHECK(bench.poller->state() == PollerState::starved);
  CHECK(bench.locked() == 0);
  bench.run_for(1min);
  CHECK(bench.log == Log{"short: no room"});
  CHECK(bench.redis.history.empty());
  CHECK(bench.redis.failures["worka"] == 0);
  CHECK(bench.poller->counters().claimed == 0);
  CHECK(bench.places.used() == 0);
  CHECK(bench.locked() == 0);
}

TEST_CASE("a starved list tries one item at a time, at growing intervals") {
  Bench bench(rule_for("work", 4), 0);
  const std::size_t first = bench.executor().started.size();
  CHECK(first == 4);
  bench.run_for(250ms);
  CHECK(bench.executor().started.size() == first + 1);
  bench.run_for(10min);
  CHECK(bench.executor().started.size() > first + 115);
  CHECK(bench.executor().started.size() < first + 130);
  CHECK(bench.poller->shortage().attempts() == bench.executor().started.size());
}

TEST_CASE("a starved list recovers by itself, with one event at the start and one at the end") {
  Bench bench(rule_for("work", 4), 0);
  bench.run_for(20s);
  bench.executor().short_of.reset();
  bench.run_for(5s);
  CHECK(bench.poller->runs().size() == 4);
  bench.run_for(5s);
  REQUIRE(bench.log.size() == 6);
  CHECK(bench.log.front() == "short: no room");
  CHECK(bench.log.back() == "not short");
  CHECK_FALSE(bench.poller->shortage().any());
}

TEST_CASE("a host at its limit keeps the possible number of runs, and reports the shortage once") {
  Bench bench(rule_for("work", 4), 2);
  bench.run_for(1min);
  CHECK(bench.poller->runs().size() == 2);
  bench.executor().end_at(bench.executor().started.front().run, 0s, Exited{0});
  bench.run_for(1min);
  CHECK(bench.poller->runs().size() == 2);
  CHECK(count(bench.log, "short: no room") == 1);
  CHECK(count(bench.log, "not short") == 0);
  CHECK(bench.poller->counters().succeeded == 1);
}

TEST_CASE("a starved list claims nothing before the next attempt") {
  Bench bench(rule_for("work", 2), 0);
  bench.executor().short_of.reset();
  bench.run_for(240ms);
  CHECK(bench.poller->runs().empty());
  bench.run_for(20ms);
  CHECK(bench.poller->runs().size() == 2);
}

TEST_CASE("an invalid item neither ends nor prolongs the wait of a starved list") {
  Bench bench(rule_for("work", 1), 0);
  bench.executor().lacks = NotStarted{"a NUL byte", true, false};
  bench.run_for(300ms);
  CHECK(bench.redis.history.size() >= 1);
  CHECK(bench.poller->shortage().any());
  bench.executor().short_of.reset();
  bench.run_for(10s);
  CHECK(bench.poller->runs().size() == 1);
  CHECK_FALSE(bench.poller->shortage().any());
}

TEST_CASE("an item stopped before a process accepted it neither ends nor prolongs the wait") {
  Bench bench(rule_for("work", 1), 0);
  bench.executor().lacks = Unanswered{"no process had accepted the item"};
  bench.run_for(300ms);
  REQUIRE_FALSE(bench.redis.history.empty());
  CHECK(bench.poller->shortage().any());
  bench.executor().short_of.reset();
  bench.run_for(10s);
  CHECK(bench.poller->runs().size() == 1);
  CHECK_FALSE(bench.poller->shortage().any());
}

TEST_CASE("a draining poller hands back items that it cannot start, and drains") {
  Bench bench(rule_for("work", 1), 0);
  bench.poller->drain();
  bench.run_for(1s);
  CHECK(bench.poller->drained());
  CHECK(bench.locked() == 0);
}

TEST_CASE("w8y for one item does not wait for the end of a shortage: it ends and frees the item") {
  ListConfig rule = rule_for("work");
  rule.supervised = false;
  Bench bench(rule, 0);
  CHECK(bench.ended > 0);
  const store::Settlement& settled = bench.redis.history.front();
  CHECK(std::holds_alternative<store::SetFree>(settled.rest));
  CHECK(settled.failures == store::FailureCount::keep);
}

}  // namespace shortage_breaker_test

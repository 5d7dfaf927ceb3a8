#include "app/drain.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "app_support.hpp"

using namespace w8y;
using namespace w8y::app;
using namespace w8y::test;

namespace drain_test {
namespace {

struct Fixture : DrainSteps, EventHandler {
  Lines done;
  Lines told;
  std::function<void()> lists_then;
  std::function<void()> streams_then;
  std::function<void()> redis_then;
  Drain drain{*this, *this};

  [[nodiscard]] std::size_t running() const override { return 2; }
  void start_drain() override { done.push_back("begin"); }
  void drain_lists(std::function<void()> then) override {
    done.push_back("lists");
    if (!lists_then) lists_then = std::move(then);
  }
  void when_no_streams(std::function<void()> then) override { streams_then = std::move(then); }
  void kill_streams() override { done.push_back("kill streams"); }
  void kill_orphans() override { done.push_back("kill orphans"); }
  void end_redis(std::function<void()> then) override { redis_then = std::move(then); }
  void end_loop() override { done.push_back("end"); }

  void on_event(const Event& event) override {
    if (const auto* host = std::get_if<HostChanged>(&event))
      told.push_back(std::string(state_name(host->state)) + " because of " +
                     std::string(host->why) + ", " + std::to_string(host->running));
    if (const auto* runs = std::get_if<RunsSignalled>(&event))
      told.push_back((runs->killed ? "kill: " : "term: ") + std::string(runs->why));
  }
};

}  // namespace

TEST_CASE("a drain waits for runs, then for streams, then for the embedded Redis") {
  Fixture f;
  CHECK_FALSE(f.drain.started());
  f.drain.order("SIGTERM");
  CHECK(f.drain.state() == DrainState::draining);
  CHECK(f.done == Lines{"begin", "lists"});
  CHECK(f.told == Lines{"draining because of SIGTERM, 2"});
  f.lists_then();
  CHECK(f.drain.state() == DrainState::stopping_streams);
  f.streams_then();
  CHECK(f.drain.state() == DrainState::cleaning_up);
  CHECK(f.done == Lines{"begin", "lists", "kill orphans"});
  f.redis_then();
  CHECK(f.drain.state() == DrainState::done);
  CHECK(f.done == Lines{"begin", "lists", "kill orphans", "end"});
}

TEST_CASE("further drain commands skip the current wait of the drain") {
  Fixture f;
  f.drain.order("SIGTERM");
  f.drain.order("SIGTERM");
  f.drain.order("a command");
  CHECK(f.done == Lines{"begin", "lists", "lists", "lists"});
  CHECK(f.told == Lines{"draining because of SIGTERM, 2", "term: SIGTERM again",
                        "kill: a command once more"});
  f.lists_then();
  f.drain.order("SIGINT");
  CHECK(f.done.back() == "kill streams");
  f.streams_then();
  f.drain.order("SIGINT");
  CHECK(f.done.back() == "kill orphans");  // nothing is left to skip
  f.redis_then();
  CHECK(f.drain.state() == DrainState::done);
}

}  // namespace drain_test

#include "app/host_mode.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "app_support.hpp"

using namespace w8y;
using namespace w8y::app;
using namespace w8y::test;

namespace host_mode_test {
namespace {

using Kind = api::CommandResult::Kind;

struct Host : World, EventHandler {
  Lines told;
  int ready = 0;
  Supervisor supervisor{SupervisorHost{clock, timers, *this, *this}};
  HostMode mode{supervisor, *this};

  Host() {
    mode.on_ready = [this] { ++ready; };
    supervisor.apply(std::make_shared<Config>(), false, [](const ReloadPlan&) {});
    settle_down();
  }
  void on_event(const Event& event) override {
    if (std::holds_alternative<HostReady>(event)) told.push_back("ready");
    if (const auto* host = std::get_if<HostChanged>(&event))
      told.push_back(state_name(host->state));
  }
};

}  // namespace

TEST_CASE("a host is ready when its lists are served and Redis can be used, once") {
  Host host;
  CHECK(host.mode.state() == HostState::starting);
  SUBCASE("lists first") {
    host.mode.lists_served();
    CHECK(host.ready == 0);
    host.mode.redis_changed(RedisState::available);
  }
  SUBCASE("Redis first") {
    host.mode.redis_changed(RedisState::available);
    CHECK(host.ready == 0);
    host.mode.lists_served();
  }
  CHECK(host.ready == 1);
  CHECK(host.mode.state() == HostState::running);
  host.mode.redis_changed(RedisState::unavailable);
  host.mode.redis_changed(RedisState::available);
  CHECK(host.told == Lines{"ready"});
}

TEST_CASE("a host that is quiet already reports no change") {
  Host host;
  for (int i = 0; i < 3; ++i) CHECK(host.mode.quiet().kind == Kind::done);
  CHECK(host.told == Lines{"quiet"});
  host.mode.resume();
  host.mode.resume();
  CHECK(host.told == Lines{"quiet", "running"});
}

TEST_CASE("a server that is too old is left alone, whatever an operator says") {
  Host host;
  host.mode.lists_served();
  host.mode.redis_changed(RedisState::unsupported_version);
  CHECK(host.supervisor.quiet());
  CHECK(host.ready == 0);
  host.mode.quiet();
  host.mode.resume();
  CHECK(host.supervisor.quiet());
  host.mode.redis_changed(RedisState::available);
  CHECK_FALSE(host.supervisor.quiet());
  CHECK(host.ready == 1);
}

TEST_CASE("an operator's quiet lasts until resume, whatever Redis does") {
  Host host;
  host.mode.lists_served();
  CHECK(host.mode.resume().text == "this host was not quiet");
  CHECK(host.mode.quiet().kind == Kind::done);
  CHECK(host.mode.state() == HostState::quiet);
  host.mode.redis_changed(RedisState::available);
  CHECK(host.supervisor.quiet());
  CHECK(host.mode.state() == HostState::quiet);
  CHECK(host.mode.resume().kind == Kind::done);
  CHECK_FALSE(host.supervisor.quiet());
  CHECK(host.mode.state() == HostState::running);
  CHECK(host.told == Lines{"quiet", "ready", "running"});
}

TEST_CASE("a host that drains takes no orders, and is not ready any more") {
  Host host;
  host.mode.draining();
  host.mode.lists_served();
  host.mode.redis_changed(RedisState::available);
  CHECK(host.mode.state() == HostState::draining);
  CHECK(host.mode.quiet().kind == Kind::refused);
  CHECK(host.mode.resume().kind == Kind::refused);
  CHECK(host.ready == 0);
  CHECK(host.told.empty());
}

}  // namespace host_mode_test

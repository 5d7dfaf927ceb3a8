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

TEST_CASE("a host becomes ready once, when its lists are served and Redis is available") {
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

TEST_CASE("a host that is already quiet reports no change") {
  Host host;
  for (int i = 0; i < 3; ++i) CHECK(host.mode.quiet().kind == Kind::done);
  CHECK(host.told == Lines{"quiet"});
  host.mode.resume();
  host.mode.resume();
  CHECK(host.told == Lines{"quiet", "running"});
}

TEST_CASE("a server that is too old is not used, even if an operator resumes the host") {
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

TEST_CASE("a host that an operator made quiet stays quiet until resume, regardless of Redis") {
  Host host;
  host.mode.lists_served();
  CHECK(host.mode.resume().text == "host was not quiet");
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

TEST_CASE("a draining host refuses commands, and is not ready") {
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

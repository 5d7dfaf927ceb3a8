#include <doctest/doctest.h>

#include "store/gearman/redis_records.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace gearman_records_test {
namespace {

struct Counted : store::GearmanRecordsHandler {
  void on_pause() override {}
  void on_recorded() override { ++recorded; }
  void on_record_refused(const std::string&) override {}
  unsigned recorded = 0;
};

/// Records of the list `mill`, connected to Redis.
struct Mill {
  Mill(loop::Loop& loop, const RedisServer& server) : session(open_link(loop, server.url())) {
    ListConfig settings;
    settings.prefix = "mill";
    rule = std::make_shared<const ListConfig>(settings);
    records.use(rule);
    CHECK(turn_until(loop, [&] { return records.ready(); }));
  }
  const std::shared_ptr<store::RedisSession> session;
  ListConfigPtr rule;
  Counted handler;
  store::RedisGearmanRecords records{session, handler};
};

}  // namespace

TEST_CASE("a pause of a Gearman list ends in time even without Redis") {
  RedisServer server;
  server.command({"SET", "mill:paused", "for a while", "PX", "3000"});
  loop::Loop loop;
  Mill mill(loop, server);
  CHECK(mill.records.pause().value_or("") == "for a while");
  server.kill();
  CHECK(turn_until(loop, [&] { return !mill.records.pause(); }));
}

TEST_CASE("a pause of a Gearman list without an end holds during an outage of Redis") {
  RedisServer server;
  server.command({"SET", "mill:paused", "until further notice"});
  loop::Loop loop;
  Mill mill(loop, server);
  server.kill();
  CHECK(turn_until(loop, [&] { return !mill.session->client.connected(); }));
  CHECK_FALSE(turn_until(
      loop, [&] { return !mill.records.pause(); }, 300ms));
}

// Found by the simulation's seed 400649622: a retired list waits for this report before it is
// drained, so a host that had moved to another Redis never stopped trying to reach the old one.
TEST_CASE("records that cannot be written to Redis are reported as no longer pending") {
  RedisServer server;
  loop::Loop loop;
  Mill mill(loop, server);
  EndedRun run;
  run.claim.run = "01K0000000000000000000000A";
  run.claim.item = "a";
  run.rule = mill.rule;
  mill.records.enter(std::move(run));
  REQUIRE(mill.records.pending() == 1);
  server.kill();
  REQUIRE(turn_until(loop, [&] { return !mill.session->client.connected(); }));
  REQUIRE(mill.records.pending() == 0);
  CHECK(turn_until(
      loop, [&] { return mill.handler.recorded > 0; }, 300ms));
}

}  // namespace gearman_records_test

#include <doctest/doctest.h>

#include "store/gearman/redis_records.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace gearman_records_test {
namespace {

struct Ignored : store::GearmanRecordsHandler {
  void on_pause() override {}
  void on_recorded() override {}
  void on_record_refused(const std::string&) override {}
};

/// The records of the list `mill`, once they are there.
struct Mill {
  Mill(loop::Loop& loop, const RedisServer& server) : session(open_link(loop, server.url())) {
    Rule rule;
    rule.prefix = "mill";
    records.use(std::make_shared<const Rule>(rule));
    CHECK(turn_until(loop, [&] { return records.ready(); }));
  }
  const std::shared_ptr<store::RedisSession> session;
  Ignored handler;
  store::RedisGearmanRecords records{session, handler};
};

}  // namespace

TEST_CASE("a pause of a list of Gearman has its end without Redis, too") {
  RedisServer server;
  server.ask({"SET", "mill:paused", "for a while", "PX", "3000"});
  loop::Loop loop;
  Mill mill(loop, server);
  CHECK(mill.records.pause().value_or("") == "for a while");
  server.kill();
  CHECK(turn_until(loop, [&] { return !mill.records.pause(); }));
}

TEST_CASE("a pause of a list of Gearman that has no end holds while Redis is away") {
  RedisServer server;
  server.ask({"SET", "mill:paused", "until further notice"});
  loop::Loop loop;
  Mill mill(loop, server);
  server.kill();
  CHECK(turn_until(loop, [&] { return !mill.session->client.connected(); }));
  CHECK_FALSE(turn_until(
      loop, [&] { return !mill.records.pause(); }, 300ms));
}

}  // namespace gearman_records_test

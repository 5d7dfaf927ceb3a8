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

}  // namespace

TEST_CASE("a pause of a list of Gearman has its end without Redis, too") {
  RedisServer server;
  server.ask({"SET", "mill:paused", "for a while", "PX", "3000"});
  loop::Loop loop;
  const auto session = open_link(loop, server.url());
  Ignored handler;
  store::RedisGearmanRecords records(session, handler);
  Rule rule;
  rule.prefix = "mill";
  records.use(std::make_shared<const Rule>(rule));
  CHECK(turn_until(loop, [&] { return records.ready(); }));
  CHECK(records.pause().value_or("") == "for a while");
  server.kill();
  CHECK(turn_until(loop, [&] { return !records.pause(); }));
}

TEST_CASE("a pause of a list of Gearman that has no end holds while Redis is away") {
  RedisServer server;
  server.ask({"SET", "mill:paused", "until further notice"});
  loop::Loop loop;
  const auto session = open_link(loop, server.url());
  Ignored handler;
  store::RedisGearmanRecords records(session, handler);
  Rule rule;
  rule.prefix = "mill";
  records.use(std::make_shared<const Rule>(rule));
  CHECK(turn_until(loop, [&] { return records.ready(); }));
  server.kill();
  CHECK(turn_until(loop, [&] { return !session->client.connected(); }));
  CHECK_FALSE(turn_until(
      loop, [&] { return !records.pause(); }, 300ms));
}

}  // namespace gearman_records_test

// Records of runs of circular lists whose host has died.
#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace interrupted_run_test {
namespace {

struct Fleet {
  RedisServer server;
  loop::Loop loop;
  std::unique_ptr<Host> dying;
  Host other;

  explicit Fleet(const ListConfig& rule = list_rule())
      : dying(std::make_unique<Host>(loop, server.url(), rule, "web2")),
        other(loop, server.url(), rule, "web1") {}

  /// Claims an item, and renews its lease if `renewed`.
  Claim run(const std::string& item, bool renewed = true) {
    server.command({"RPUSH", "work:list", item});
    const ClaimReply reply = dying->claim(1);
    REQUIRE(reply.end == ClaimEnd::more);
    if (renewed) {
      dying->session->leases.renew_now();
      CHECK(turn_until(loop, [&] { return claims() > 0; }));
    }
    return dying->reported.claims.back();
  }
  std::string entry() { return server.command({"HVALS", "work:claims"}); }
  int claims() { return std::stoi(server.command({"HLEN", "work:claims"})); }
  /// Kills the host, deletes its locks, and records that each lock has been missing for 11 s.
  void end_leases() {
    dying.reset();
    server.command({"EVAL",
                    "local at = redis.call('TIME')[1] * 1000 - 11000 "
                    "for _, run in ipairs(redis.call('HKEYS', 'work:claims')) do "
                    "local text = redis.call('HGET', 'work:claims', run) "
                    "redis.call('HSET', 'work:claims', run, (string.gsub(text, '^%d+', at))) end "
                    "for _, lock in ipairs(redis.call('KEYS', 'work:lock:*')) do "
                    "redis.call('DEL', lock) end",
                    "0"});
  }
  void sweep() {
    other.session->circular.sweep.step();
    turn_for(loop, 20ms);
  }
  std::string records() { return server.command({"LRANGE", "work:runs", "0", "-1"}); }
};

}  // namespace

TEST_CASE("a run of a circular list whose host died leaves one record") {
  Fleet fleet;
  const Claim claim = fleet.run("https://example.org/feed");
  fleet.end_leases();
  fleet.sweep();
  CHECK(turn_until(fleet.loop, [&] { return fleet.claims() == 0; }));
  fleet.sweep();
  const std::string records = fleet.records();
  CHECK(records.find("\"item\":\"https:\\/\\/example.org\\/feed\"") != std::string::npos);
  CHECK(records.find("\"run\":\"" + claim.run.str() + "\"") != std::string::npos);
  CHECK(records.find("\"host\":\"web2\"") != std::string::npos);
  CHECK(records.find("\"outcome\":\"lost\"") != std::string::npos);
  CHECK(records.find("\"reason\":\"interrupted: host web2 died\"") != std::string::npos);
  CHECK(fleet.server.command({"LLEN", "work:runs"}) == "1");
}

TEST_CASE("a claim is recorded by its first renewal and deleted by its settlement") {
  Fleet fleet;
  const Claim claim = fleet.run("a", false);
  CHECK(fleet.claims() == 0);
  fleet.dying->session->leases.renew_now();
  CHECK(turn_until(fleet.loop, [&] { return fleet.claims() == 1; }));
  CHECK(std::stoll(fleet.server.command({"PTTL", "work:claims"})) > 600'000'000);
  fleet.dying->settle(claim);
  CHECK(fleet.dying->settled());
  CHECK(fleet.claims() == 0);
}

TEST_CASE("a run whose lease ended less than 10 s ago, or is held, leaves no record") {
  Fleet fleet;
  fleet.run("a");
  fleet.sweep();
  CHECK(fleet.claims() == 1);
  const std::string run = fleet.server.command({"HKEYS", "work:claims"});
  const std::string value = fleet.server.command({"GET", "work:lock:a"});
  CHECK(run == value);
  fleet.end_leases();
  fleet.server.command({"SET", "work:lock:a", value});
  fleet.sweep();
  CHECK(fleet.claims() == 1);
  CHECK(fleet.records().empty());
  CHECK(fleet.entry() == "0 1 a");
  fleet.end_leases();
  fleet.sweep();
  CHECK(turn_until(fleet.loop, [&] { return fleet.claims() == 0; }));
  CHECK_FALSE(fleet.records().empty());
}

TEST_CASE("a lock counts as missing from the first sweep that does not find it until a renewal") {
  ListConfig rule = list_rule();
  rule.on_lease_loss = OnLeaseLoss::keep_running;
  Fleet fleet(rule);
  fleet.run("a");
  CHECK(fleet.entry() == "0 1 a");
  fleet.server.command({"DEL", "work:lock:a"});
  fleet.sweep();
  CHECK(turn_until(fleet.loop, [&] { return fleet.entry() != "0 1 a"; }));
  const std::string since = fleet.entry();
  CHECK(since.ends_with(" 1 a"));
  CHECK(since.size() == 13 + 4);  // ms since 1970
  fleet.sweep();
  CHECK(fleet.entry() == since);
  CHECK(fleet.records().empty());
  fleet.dying->session->leases.renew_now();
  CHECK(turn_until(fleet.loop, [&] { return fleet.entry() == "0 1 a"; }));
  CHECK(fleet.server.command({"EXISTS", "work:lock:a"}) == "1");
}

TEST_CASE("the first renewal of a short item and each renewal of a long item record the claim") {
  Fleet fleet;
  const auto is_recorded = [&](const std::string& item) {
    fleet.run(item);
    store::Leases& leases = fleet.dying->session->leases;
    CHECK(turn_until(fleet.loop, [&] { return leases.margins().least().has_value(); }));
    fleet.server.command({"DEL", "work:claims"});
    fleet.server.command({"PEXPIRE", "work:lock:" + item, "3000"});
    leases.renew_now();
    CHECK(turn_until(fleet.loop, [&] {
      return std::stoi(fleet.server.command({"PTTL", "work:lock:" + item})) > 3000;
    }));
    return fleet.claims() > 0;
  };
  CHECK_FALSE(is_recorded("short"));
  fleet.server.command({"DEL", "work:list"});
  fleet.dying->settle(fleet.dying->reported.claims.back());
  CHECK(fleet.dying->settled());
  CHECK(is_recorded(std::string(6000, 'x')));
}

TEST_CASE("a host that settled its run before the sweep leaves no second record") {
  Fleet fleet;
  const Claim claim = fleet.run("a");
  const std::string entry = fleet.server.command({"HVALS", "work:claims"});
  const std::string run = fleet.server.command({"HKEYS", "work:claims"});
  fleet.dying->settle(claim);
  CHECK(fleet.dying->settled());
  fleet.server.command({"HSET", "work:claims", run, entry});  // a late renewal
  fleet.end_leases();
  fleet.sweep();
  CHECK(turn_until(fleet.loop, [&] { return fleet.claims() == 0; }));
  CHECK(fleet.server.command({"LLEN", "work:runs"}) == "1");
  CHECK(fleet.records().find("interrupted") == std::string::npos);
}

TEST_CASE("the record of a long item has its start and its length") {
  Fleet fleet;
  std::string item;
  while (item.size() < 6000) item += "ä";
  fleet.run(item);
  fleet.end_leases();
  fleet.sweep();
  CHECK(turn_until(fleet.loop, [&] { return fleet.claims() == 0; }));
  const std::string records = fleet.records();
  CHECK(records.find("\"item\":\"" + item.substr(0, item_shown) + "\"") != std::string::npos);
  CHECK(records.find("\"item_length\":6000") != std::string::npos);
}

TEST_CASE("invalid entries of recorded claims are deleted, and a key of a wrong type is ignored") {
  Fleet fleet;
  const Claim claim = fleet.run("a");
  fleet.server.command({"HSET", "work:claims", "no run", "1 1 x", "run:web2:1:0", "no claim"});
  fleet.sweep();
  CHECK(turn_until(fleet.loop, [&] { return fleet.claims() == 1; }));
  fleet.server.command({"SET", "work:claims", "text"});
  fleet.dying->session->leases.renew_now();
  turn_for(fleet.loop, 50ms);
  CHECK(fleet.dying->reported.lost.empty());
  fleet.dying->settle(claim);
  CHECK(fleet.dying->settled());
  fleet.sweep();
  CHECK(fleet.server.command({"GET", "work:claims"}) == "text");
}

TEST_CASE("a list without a history records no claims") {
  ListConfig rule = list_rule();
  rule.history.runs = 0;
  Fleet fleet(rule);
  fleet.run("a", false);
  fleet.dying->session->leases.renew_now();
  turn_for(fleet.loop, 50ms);
  CHECK(fleet.claims() == 0);
}

}  // namespace interrupted_run_test

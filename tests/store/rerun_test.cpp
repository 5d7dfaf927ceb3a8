// Tests of reruns: marks of running items (P:reruns), and the calls that write and delete them.
#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "store/circular/item_changes.hpp"
#include "store/host.hpp"
#include "store/scripts.hpp"

using namespace w8y;
using namespace w8y::test;
using store::ItemChanges;
using store::RerunAs;

namespace rerun_test {
namespace {

/// Server with three items, a host and the client of an operator.
struct Place {
  explicit Place(const ListConfig& rule = list_rule()) {
    server.command({"RPUSH", "work:list", "a", "b", "c"});
    host = std::make_unique<Host>(loop, server.url(), rule);
    redis::ClientOptions options;
    options.url = redis::parse_url(server.url());
    client = std::make_unique<redis::SyncClient>(loop, options);
  }
  RerunAs rerun(const Item& item) {
    return ItemChanges(*client, store::CircularKeys("work:")).rerun(item);
  }
  std::string lock_of(const std::string& item) {
    return server.command({"GET", "work:lock:" + item});
  }
  std::string mark_of(const std::string& item) {
    return server.command({"HGET", "work:reruns", item});
  }
  bool has_marks() { return server.command({"EXISTS", "work:reruns"}) == "1"; }
  void settle(const Claim& claim, const store::Rest& rest, store::FailureCount failures,
              Outcome outcome = Succeeded{}) {
    host->settle(claim, rest, failures, std::move(outcome));
    CHECK(host->settled());
  }

  RedisServer server;
  loop::Loop loop;
  std::unique_ptr<Host> host;
  std::unique_ptr<redis::SyncClient> client;
};

}  // namespace

TEST_CASE("a running item with a mark is free after its run, with any outcome") {
  Place place;
  const std::vector<Claim> claims = place.host->claim(3).claims;
  REQUIRE(claims.size() == 3);
  for (const Claim& claim : claims) {
    CHECK(place.rerun(claim.item) == RerunAs::after_run);
    CHECK(place.rerun(claim.item) == RerunAs::after_run);
    CHECK(place.mark_of(claim.item) == place.lock_of(claim.item));
  }
  CHECK(place.server.command({"HLEN", "work:reruns"}) == "3");
  place.settle(claims[0], store::RestFor{false, 60s}, store::FailureCount::reset);
  place.settle(claims[1], store::RestFor{true, 60s}, store::FailureCount::increment, Crashed{"x"});
  place.settle(claims[2], store::SetFree{}, store::FailureCount::keep);
  CHECK_FALSE(place.has_marks());
  CHECK(place.server.command({"EXISTS", "work:lock:a", "work:lock:b", "work:lock:c"}) == "0");
  CHECK(place.server.command({"HGETALL", "work:failures"}) == claims[1].item + "\n1");

  // One mark gives one more run.
  const std::vector<Claim> again = place.host->claim(3).claims;
  REQUIRE(again.size() == 3);
  for (const Claim& claim : again)
    place.settle(claim, store::RestFor{false, 60s}, store::FailureCount::reset);
  CHECK(place.host->claim(3).claims.empty());
}

TEST_CASE("a quarantine wins over a mark") {
  Place place;
  const std::vector<Claim> claims = place.host->claim(2).claims;
  REQUIRE(claims.size() == 2);
  for (const Claim& claim : claims) CHECK(place.rerun(claim.item) == RerunAs::after_run);
  ItemChanges(*place.client, store::CircularKeys("work:")).quarantine({claims[0].item}, {});
  CHECK(place.rerun(claims[0].item) == RerunAs::quarantined);
  place.settle(claims[0], store::RestFor{false, 60s}, store::FailureCount::reset);
  place.settle(claims[1], store::Quarantine{}, store::FailureCount::increment, Crashed{"x"});
  for (const Claim& claim : claims) {
    CHECK(place.lock_of(claim.item).starts_with("quarantine:"));
    CHECK(place.rerun(claim.item) == RerunAs::quarantined);
  }
  CHECK_FALSE(place.has_marks());
}

TEST_CASE("a rerun ends a delay and keeps the failures") {
  Place place;
  CHECK(place.rerun("nowhere") == RerunAs::not_listed);
  place.server.command({"SET", "work:lock:a", "delay:backoff", "PX", "60000"});
  place.server.command({"SET", "work:proc:a", "delay:backoff", "PX", "60000"});
  place.server.command({"HSET", "work:failures", "a", "2"});
  CHECK(place.rerun("a") == RerunAs::delay_ended);
  CHECK(place.server.command({"EXISTS", "work:lock:a", "work:proc:a"}) == "0");
  CHECK(place.server.command({"HGET", "work:failures", "a"}) == "2");
  CHECK(place.server.command({"LRANGE", "work:list", "0", "-1"}) == "a\nb\nc");
  CHECK(place.rerun("a") == RerunAs::was_free);
}

TEST_CASE("a late settlement does not delay an item that was free or delayed at its rerun") {
  Place place;
  const std::vector<Claim> claims = place.host->claim(1).claims;
  REQUIRE(claims.size() == 1);
  const std::string item = claims[0].item, lock = "work:lock:" + item;
  const std::string value = place.lock_of(item);
  place.server.command({"DEL", lock});  // its lease ends
  SUBCASE("free") {
    CHECK(place.rerun(item) == RerunAs::was_free);
  }
  SUBCASE("delayed") {
    place.server.command({"SET", lock, "delay:cooldown", "PX", "60000"});
    CHECK(place.rerun(item) == RerunAs::delay_ended);
  }
  SUBCASE("free for a moment, until its host has set the lock again") {
    CHECK(place.rerun(item) == RerunAs::was_free);
    place.server.command({"SET", lock, value});
  }
  place.settle(claims[0], store::RestFor{false, 60s}, store::FailureCount::reset);
  CHECK(place.server.command({"EXISTS", lock}) == "0");
  const std::vector<Claim> again = place.host->claim(3).claims;
  CHECK(again.size() == 3);
  for (const Claim& claim : again)
    place.settle(claim, store::RestFor{false, 60s}, store::FailureCount::reset);
  CHECK_FALSE(place.has_marks());
  CHECK(place.host->claim(3).claims.empty());
}

TEST_CASE("a mark names the run of w8y if the item has locks with both names") {
  Place place;
  const std::vector<Claim> claims = place.host->claim(1).claims;
  REQUIRE(claims.size() == 1);
  const std::string item = claims[0].item, run = place.lock_of(item);
  const auto rerun = [&](const std::string& first, const std::string& other) {
    return place.client
        ->run(store::scripts::rerun,
              {"work:list", "work:quarantined", "work:reruns", first + item, other + item},
              {"work:wake", item})
        .number;
  };
  place.server.command({"SET", "work:proc:" + item, "web7 4711"});
  CHECK(rerun("work:lock:", "work:proc:") == 3);
  CHECK(place.mark_of(item) == run);
  place.server.command({"DEL", "work:reruns"});
  CHECK(rerun("work:proc:", "work:lock:") == 3);
  CHECK(place.mark_of(item) == run);
}

TEST_CASE("a settlement with a mark wakes its own host, which expects a delay") {
  Place place;
  place.host->source.listen(true);
  REQUIRE(turn_until(place.loop, [&] { return place.host->session->subscriber.connected(); }));
  const std::vector<Claim> claims = place.host->claim(3).claims;
  REQUIRE(claims.size() == 3);
  const int before = place.host->reported.wakes;
  place.settle(claims[0], store::RestFor{false, 60s}, store::FailureCount::reset);
  CHECK(place.rerun(claims[1].item) == RerunAs::after_run);
  place.settle(claims[1], store::RestFor{false, 60s}, store::FailureCount::reset);
  CHECK(turn_until(place.loop, [&] { return place.host->reported.wakes == before + 1; }));
}

TEST_CASE("a claim replaces the mark of another lock until its run is settled") {
  Place place;
  const std::vector<Claim> old = place.host->claim(1).claims;
  REQUIRE(old.size() == 1);
  CHECK(place.rerun(old[0].item) == RerunAs::after_run);
  place.server.command({"DEL", "work:lock:" + old[0].item});  // its lease ends
  const auto check_claimed = [&] {
    CHECK(place.mark_of(old[0].item) == "claimed:" + place.lock_of(old[0].item));
    CHECK(place.server.command({"HLEN", "work:reruns"}) == "1");
  };
  const auto check_delayed = [&] {
    CHECK_FALSE(place.has_marks());
    CHECK(place.lock_of(old[0].item) == "delay:cooldown");
  };
  SUBCASE("a claim of several items") {
    const std::vector<Claim> claims = place.host->claim(3).claims;
    CHECK(claims.size() == 3);
    check_claimed();
    for (const Claim& claim : claims)
      place.settle(claim, store::RestFor{false, 60s}, store::FailureCount::reset);
    check_delayed();
  }
  SUBCASE("a claim of one item") {
    std::vector<Claim> claims;
    for (int i = 0; i < 3; ++i)
      for (Claim& claim : place.host->claim(1).claims) claims.push_back(std::move(claim));
    CHECK(claims.size() == 3);
    check_claimed();
    for (const Claim& claim : claims)
      place.settle(claim, store::RestFor{false, 60s}, store::FailureCount::reset);
    check_delayed();
  }
  SUBCASE("the claim of a named item") {
    std::optional<Claim> claimed;
    place.host->source.claim_item(old[0].item,
                                  [&](const ItemClaim& claim) { claimed = claim.claim; });
    REQUIRE(turn_until(place.loop, [&] { return claimed.has_value(); }));
    check_claimed();
    place.settle(*claimed, store::RestFor{false, 60s}, store::FailureCount::reset);
    check_delayed();
  }
  SUBCASE("a settlement without its lock leaves the item free and writes no cooldown") {
    place.settle(old[0], store::RestFor{false, 60s}, store::FailureCount::reset);
    CHECK_FALSE(place.has_marks());
    CHECK(place.server.command({"EXISTS", "work:lock:" + old[0].item}) == "0");
  }
}

// Found by the seed 179584397604503: a claim deleted the mark, and its run did not start.
TEST_CASE("a claim whose run does not start keeps the mark of its item") {
  bool sets_lock_again = false;  // the earlier run
  SUBCASE("the earlier run has lost its lock") {}
  SUBCASE("the earlier run has set its lock again") {
    sets_lock_again = true;
  }
  for (const std::string how : {"handed back", "marked, then handed back", "lost with its host"}) {
    CAPTURE(how);
    Place place;
    const std::vector<Claim> old = place.host->claim(1).claims;
    REQUIRE(old.size() == 1);
    const std::string item = old[0].item, lock = "work:lock:" + item, value = place.lock_of(item);
    const auto claim_again = [&] {
      std::optional<Claim> claimed;
      place.host->source.claim_item(item, [&](const ItemClaim& claim) { claimed = claim.claim; });
      REQUIRE(turn_until(place.loop, [&] { return claimed.has_value(); }));
      return *claimed;
    };
    const bool marked_late = how == "marked, then handed back";
    if (!marked_late) CHECK(place.rerun(item) == RerunAs::after_run);
    place.server.command({"DEL", lock});  // its lease ends
    const Claim claim = claim_again();
    if (marked_late) CHECK(place.rerun(item) == RerunAs::after_run);
    if (how == "lost with its host") {
      place.server.command({"DEL", lock});
    } else {
      place.host->source.hand_back(claim);
      CHECK(place.host->settled());
      CHECK(place.mark_of(item).empty());
    }
    CHECK(place.has_marks());
    if (sets_lock_again) place.server.command({"SET", lock, value});
    place.settle(old[0], store::RestFor{false, 60s}, store::FailureCount::reset);
    CHECK(place.server.command({"EXISTS", lock}) == "0");

    // One mark gives one more run.
    place.settle(claim_again(), store::RestFor{false, 60s}, store::FailureCount::reset);
    CHECK(place.lock_of(item) == "delay:cooldown");
    CHECK_FALSE(place.has_marks());
  }
}

TEST_CASE("the mark of a later run stays when an earlier run is settled") {
  Place place;
  const std::vector<Claim> old = place.host->claim(1).claims;
  REQUIRE(old.size() == 1);
  const std::string lock = "work:lock:" + old[0].item;
  place.server.command({"SET", lock, "run:go:1:01ARYZ6S41TSV4RRFFQ69G5FAV"});
  CHECK(place.rerun(old[0].item) == RerunAs::after_run);
  place.settle(old[0], store::RestFor{false, 60s}, store::FailureCount::reset);
  CHECK(place.mark_of(old[0].item) == "run:go:1:01ARYZ6S41TSV4RRFFQ69G5FAV");
  CHECK(place.server.command({"EXISTS", lock}) == "1");
}

TEST_CASE("a removal and a sweep delete marks") {
  Place place;
  REQUIRE(place.host->claim(3).claims.size() == 3);
  for (const Item item : {"a", "b", "c"}) CHECK(place.rerun(item) == RerunAs::after_run);
  ItemChanges(*place.client, store::CircularKeys("work:")).remove({"a"});
  CHECK(place.server.command({"HEXISTS", "work:reruns", "a"}) == "0");
  place.server.command({"LREM", "work:list", "0", "b"});
  CHECK(turn_until(place.loop, [&] {
    place.host->session->circular.sweep.step();
    return place.server.command({"HKEYS", "work:reruns"}) == "c";
  }));
}

TEST_CASE("locks of other programs and keys of a wrong type do not prevent reruns or settlements") {
  Place place;
  place.server.command({"SET", "work:lock:a", "web7 4711"});
  CHECK(place.rerun("a") == RerunAs::after_run);
  CHECK(place.mark_of("a") == "web7 4711");
  place.server.command({"RPUSH", "work:lock:b", "of a wrong type"});
  CHECK(place.rerun("b") == RerunAs::after_run);
  place.server.command({"DEL", "work:lock:a", "work:lock:b", "work:reruns"});
  place.server.command({"SET", "work:reruns", "of a wrong type"});
  const std::vector<Claim> claims = place.host->claim(3).claims;
  REQUIRE(claims.size() == 3);
  for (const Item item : {"a", "b"}) {
    try {
      place.rerun(item);
      FAIL("no error");
    } catch (const redis::RedisError& error) {
      CHECK(std::string(error.what()).find("the key work:reruns is not a hash") !=
            std::string::npos);
    }
    place.server.command({"DEL", "work:lock:b"});
  }
  for (const Claim& claim : claims)
    place.settle(claim, store::SetFree{}, store::FailureCount::reset);
  CHECK(place.host->claim(3).claims.size() == 3);
}

TEST_CASE("a refused command writes no mark and ends no delay") {
  Place place;
  place.server.command({"SET", "work:lock:a", "delay:backoff", "PX", "60000"});
  place.server.command({"SET", "work:lock:b", "web7 4711"});
  for (const std::string forbidden : {"-del", "-publish", "-lpos"}) {
    CAPTURE(forbidden);
    place.server.command({"ACL", "SETUSER", "default", forbidden});
    CHECK_THROWS_AS(place.rerun("a"), redis::RedisError);
    place.server.command({"ACL", "SETUSER", "default", "+@all"});
    CHECK(place.lock_of("a") == "delay:backoff");
    CHECK_FALSE(place.has_marks());
  }
  place.server.command({"ACL", "SETUSER", "default", "-hset"});
  CHECK_THROWS_AS(place.rerun("b"), redis::RedisError);
  place.server.command({"ACL", "SETUSER", "default", "+@all"});
  CHECK_FALSE(place.has_marks());
}

TEST_CASE("a settlement waits while Redis refuses to read the marks, so that no mark is lost") {
  Place place;
  const std::vector<Claim> claims = place.host->claim(1).claims;
  REQUIRE(claims.size() == 1);
  CHECK(place.rerun(claims[0].item) == RerunAs::after_run);
  place.server.command({"ACL", "SETUSER", "default", "-hmget"});
  const auto before = place.host->session->client.commands_sent();
  place.host->settle(claims[0], store::RestFor{false, 60s}, store::FailureCount::reset);
  CHECK(turn_until(place.loop,
                   [&] { return place.host->session->client.commands_sent() > before + 1; }));
  CHECK(place.host->source.unsettled() == 1);
  place.server.command({"ACL", "SETUSER", "default", "+@all"});
  CHECK(place.host->settled());
  CHECK(place.server.command({"EXISTS", "work:reruns", "work:lock:" + claims[0].item}) == "0");
}

}  // namespace rerun_test

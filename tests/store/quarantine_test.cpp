// Tests of quarantines: their index, commands of operators, settlements after a lost
// lease, and items that are added again.
#include <doctest/doctest.h>

#include <map>

#include "core/circular_settings.hpp"
#include "store/circular/item_changes.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;
using store::ItemChanges;
using store::QuarantinedAs;
using store::ReleasedAs;

namespace quarantine_test {
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
  ItemChanges changes(const std::string& lock_key = "lock") {
    return ItemChanges(*client, store::CircularKeys("work:", lock_key));
  }
  std::string lock_of(const std::string& item) {
    return server.command({"GET", "work:lock:" + item});
  }

  RedisServer server;
  loop::Loop loop;
  std::unique_ptr<Host> host;
  std::unique_ptr<redis::SyncClient> client;
};

const store::QuarantineNote by_alice{{}, "alice on web1", "it eats the disk", WallTime(5)};

}  // namespace

TEST_CASE("a settlement whose lock is gone writes no failure, and no delay except a cooldown") {
  Place place;
  Host other(place.loop, place.server.url(), list_rule(), "other");
  const ClaimReply old = place.host->claim(3);
  REQUIRE(old.claims.size() == 3);
  place.server.command({"DEL", "work:lock:a", "work:lock:b", "work:lock:c"});
  place.server.command({"HSET", "work:failures", "b", "2"});
  for (int i = 0; i < 20; ++i) {
    for (const Claim& claim : other.claim(3).claims)
      other.settle(claim, store::SetFree{},
                   claim.item == "b" ? store::FailureCount::keep : store::FailureCount::reset);
    CHECK(other.settled());
  }
  place.host->settle(old.claims[0], store::RestFor{true, 60s}, store::FailureCount::increment,
                     Crashed{"x"});
  place.host->settle(old.claims[1], store::RestFor{false, 60s}, store::FailureCount::reset);
  place.host->settle(old.claims[2], store::Quarantine{}, store::FailureCount::increment,
                     Crashed{"x"});
  CHECK(place.host->settled());
  CHECK(place.server.command({"EXISTS", "work:lock:a", "work:lock:c", "work:quarantined"}) == "0");
  CHECK(place.lock_of("b") == "delay:cooldown");
  CHECK(place.server.command({"HGETALL", "work:failures"}) == "b\n2");
  CHECK(place.server.command({"LLEN", "work:runs"}) == "63");  // each run has a record

  // A cooldown does not replace a lock that another client has set.
  const ClaimReply more = place.host->claim(2);
  REQUIRE(more.claims.size() == 2);
  place.server.command({"SET", "work:lock:" + more.claims[0].item, "delay:backoff", "PX", "60000"});
  place.host->settle(more.claims[0], store::RestFor{false, 1s}, store::FailureCount::reset);
  CHECK(place.host->settled());
  CHECK(place.lock_of(more.claims[0].item) == "delay:backoff");
}

TEST_CASE("a quarantine records its run, operator and reason, and a release ends it") {
  Place place;
  const Claim claim = place.host->claim(1).claims.at(0);
  place.host->settle(claim, store::Quarantine{}, store::FailureCount::increment,
                     Crashed{"exit status 3"});
  CHECK(place.host->settled());
  CHECK(place.lock_of("a") == "quarantine:" + claim.run);
  ItemChanges changes = place.changes();
  const auto all = changes.quarantined();
  REQUIRE(all.size() == 1);
  CHECK(all[0].item == "a");
  CHECK(all[0].note.run == claim.run);
  CHECK(all[0].note.by == "w8yd on here");
  CHECK(all[0].note.reason.find("exit status 3") != std::string::npos);
  CHECK(all[0].note.time == WallTime(2000));
  CHECK(changes.release({"a", "b", "nowhere"}) ==
        std::vector{ReleasedAs::released, ReleasedAs::was_free, ReleasedAs::not_listed});
  CHECK(place.server.command({"EXISTS", "work:lock:a", "work:quarantined", "work:failures"}) ==
        "0");
}

TEST_CASE("a running item is quarantined when its run ends with any outcome") {
  Place place;
  const ClaimReply reply = place.host->claim(3);
  REQUIRE(reply.claims.size() == 3);
  ItemChanges changes = place.changes();
  CHECK(changes.quarantine({"a", "b", "c", "nowhere"}, by_alice) ==
        std::vector{QuarantinedAs::at_end_of_run, QuarantinedAs::at_end_of_run,
                    QuarantinedAs::at_end_of_run, QuarantinedAs::not_listed});
  CHECK(changes.quarantine({"a"}, {}) == std::vector{QuarantinedAs::asked_already});
  CHECK(changes.release({"c"}) == std::vector{ReleasedAs::called_off});
  place.host->settle(reply.claims[0], store::RestFor{false, 60s}, store::FailureCount::reset);
  place.host->source.hand_back(reply.claims[1]);
  place.host->settle(reply.claims[2]);
  CHECK(place.host->settled());
  CHECK(place.lock_of("a") == "quarantine:" + reply.claims[0].run);
  CHECK(place.lock_of("b") == "quarantine:" + reply.claims[1].run);
  CHECK(place.lock_of("c") == "(nil)");
  std::map<Item, store::QuarantineNote> notes;
  for (const auto& each : changes.quarantined()) notes[each.item] = each.note;
  CHECK(notes["a"].by == "alice on web1");
  CHECK(notes["a"].reason == "it eats the disk");
  CHECK(notes["a"].time == WallTime(5));
  CHECK_FALSE(notes.contains("c"));
  CHECK(items_of(place.host->claim(3)) == std::vector<Item>{"c"});
}

TEST_CASE("a command to quarantine survives the host of the run and a change of lock_key") {
  Place place;
  CHECK(place.host->claim(1).claims.size() == 1);
  ItemChanges changes = place.changes();
  changes.quarantine({"a"}, by_alice);
  place.server.command({"DEL", "work:lock:a"});  // as if it had expired
  CHECK(items_of(place.host->claim(3)) == std::vector<Item>{"b", "c"});
  CHECK(place.lock_of("a") == "quarantine:manual");

  ListConfig older = list_rule();
  older.circular().lock_key = "proc";
  place.server.command({"DEL", "work:lock"});  // as if no host used that name any more
  Host proc(place.loop, place.server.url(), older, "older");
  for (const Claim& claim : proc.claim(3).claims) CHECK(claim.item != "a");
  CHECK(place.server.command({"GET", "work:proc:a"}) == "quarantine:manual");
  // A release under one name releases the item under both names.
  CHECK(changes.release({"a"}) == std::vector{ReleasedAs::released});
  CHECK(place.server.command({"EXISTS", "work:lock:a", "work:proc:a", "work:quarantined"}) == "0");
}

TEST_CASE("add clears the failures and quarantine of a removed item, and remove deletes its keys") {
  Place place;
  ItemChanges changes = place.changes();
  CHECK(changes.quarantine({"a", "b"}, by_alice) ==
        std::vector{QuarantinedAs::done, QuarantinedAs::done});
  CHECK(changes.quarantine({"b"}, {}) == std::vector{QuarantinedAs::was_already});
  place.server.command({"HSET", "work:failures", "a", "3", "b", "3", "c", "3"});
  place.server.command({"LREM", "work:list", "0", "a"});
  CHECK(changes.add({"a", "b", "a"}, false) == std::vector{store::AddedAs::added,
                                                           store::AddedAs::listed_already,
                                                           store::AddedAs::listed_already});
  CHECK(place.lock_of("a") == "(nil)");
  CHECK(place.lock_of("b") == "quarantine:manual");
  CHECK(place.server.command({"HKEYS", "work:quarantined"}) == "b");
  place.server.command({"RPUSH", "work:list", "b"});
  CHECK(changes.remove({"b", "c", "nowhere"}) == std::vector<std::size_t>{2, 1, 0});
  CHECK(place.server.command({"EXISTS", "work:quarantined", "work:failures", "work:lock:b"}) ==
        "0");
  CHECK(place.server.command({"LRANGE", "work:list", "0", "-1"}) == "a");
}

TEST_CASE("an item that moves first is claimed next, with its failures and without its delay") {
  Place place;
  ItemChanges changes = place.changes();
  const auto list = [&] { return place.server.command({"LRANGE", "work:list", "0", "-1"}); };
  place.server.command({"RPUSH", "work:list", "d", "b", "e"});
  REQUIRE(list() == "a\nb\nc\nd\nb\ne");
  CHECK(changes.move_first("d") == store::MovedAs::first);
  CHECK(list() == "d\na\nb\nc\nb\ne");
  // The last copy moves. The other one and all other items keep their order.
  CHECK(changes.move_first("b") == store::MovedAs::first);
  CHECK(list() == "b\nd\na\nb\nc\ne");
  CHECK(changes.move_first("nowhere") == store::MovedAs::not_listed);
  place.server.command({"SET", "work:lock:e", "delay:backoff", "PX", "60000"});
  place.server.command({"SET", "work:proc:e", "delay:backoff", "PX", "60000"});
  place.server.command({"HSET", "work:failures", "e", "2"});
  CHECK(changes.move_first("e") == store::MovedAs::first);
  CHECK(place.server.command({"EXISTS", "work:lock:e", "work:proc:e"}) == "0");
  const auto claims = place.host->claim(2).claims;
  REQUIRE(claims.size() == 2);
  CHECK(claims[0].item == "e");
  CHECK(claims[0].attempt == 3);
  CHECK(claims[1].item == "b");
}

TEST_CASE("an item that runs or is quarantined does not move first, and no refusal loses an item") {
  Place place;
  ItemChanges changes = place.changes();
  const auto list = [&] { return place.server.command({"LRANGE", "work:list", "0", "-1"}); };
  CHECK(changes.quarantine({"c"}, by_alice) == std::vector{QuarantinedAs::done});
  CHECK(changes.move_first("c") == store::MovedAs::quarantined);
  place.server.command({"DEL", "work:lock:c"});  // the index alone keeps it quarantined
  CHECK(changes.move_first("c") == store::MovedAs::quarantined);
  place.server.command({"SET", "work:lock:b", "web7 4711"});
  CHECK(changes.move_first("b") == store::MovedAs::runs);
  place.server.command({"DEL", "work:lock:b"});
  place.server.command({"RPUSH", "work:lock:b", "of a wrong type"});
  CHECK(changes.move_first("b") == store::MovedAs::runs);
  CHECK(list() == "a\nb\nc");
  place.server.command({"DEL", "work:lock:b"});
  for (const std::string forbidden : {"-lpush", "-lrem", "-publish", "-lpos"}) {
    CAPTURE(forbidden);
    place.server.command({"ACL", "SETUSER", "default", forbidden});
    CHECK_THROWS_AS(changes.move_first("b"), redis::RedisError);
    CHECK(list() == "a\nb\nc");
    place.server.command({"ACL", "SETUSER", "default", "+@all"});
  }
  CHECK(changes.move_first("b") == store::MovedAs::first);
  CHECK(list() == "b\na\nc");
}

TEST_CASE("a removal by state keeps items that are in another state") {
  Place place;
  ItemChanges changes = place.changes();
  place.server.command({"RPUSH", "work:list", "c", "d", "e", "f", "c"});
  place.server.command({"SET", "work:lock:b", "run:other:1:01ARYZ6S41TSV4RRFFQ69G5FAV"});
  place.server.command({"SET", "work:lock:c", "delay:cooldown", "PX", "60000"});
  place.server.command({"RPUSH", "work:lock:f", "of a wrong type"});
  REQUIRE(changes.quarantine({"d"}, by_alice).size() == 1);
  place.server.command({"HSET", "work:quarantined", "e", "{}"});  // written under another lock_key
  const std::vector<Item> all = {"a", "b", "c", "d", "e", "f", "nowhere"};
  using Copies = std::vector<std::optional<std::size_t>>;
  const auto stays = std::nullopt;
  SUBCASE("free") {
    CHECK(changes.remove(all, "free") == Copies{1, stays, stays, stays, stays, stays, 0});
    CHECK(place.server.command({"EXISTS", "work:lock:b", "work:lock:c", "work:lock:d"}) == "3");
    CHECK(place.server.command({"HLEN", "work:quarantined"}) == "2");
  }
  SUBCASE("running") {
    CHECK(changes.remove(all, "running") == Copies{stays, 1, stays, stays, stays, 1, 0});
    CHECK(place.server.command({"EXISTS", "work:lock:b"}) == "1");
  }
  SUBCASE("delayed") {
    CHECK(changes.remove(all, "delayed") == Copies{stays, stays, 3, stays, stays, stays, 0});
    CHECK(place.server.command({"EXISTS", "work:lock:c"}) == "0");
  }
  SUBCASE("quarantined") {
    CHECK(changes.remove(all, "quarantined") == Copies{stays, stays, stays, 1, 1, stays, 0});
    CHECK(place.server.command({"EXISTS", "work:lock:d", "work:quarantined"}) == "0");
  }
}

TEST_CASE("a delay below 1 ms lasts 1 ms, and keys of a wrong type do not prevent a settlement") {
  Place place;
  const ClaimReply reply = place.host->claim(2);
  place.server.command({"SET", "work:failures", "of a wrong type"});
  place.server.command({"SET", "work:quarantined", "of a wrong type"});
  place.server.command({"SET", "work:runs", "of a wrong type"});
  place.host->settle(reply.claims.at(0), store::RestFor{true, 500us},
                     store::FailureCount::increment, Crashed{"x"});
  place.host->settle(reply.claims.at(1), store::RestFor{true, 60s}, store::FailureCount::increment,
                     Crashed{"x"});
  CHECK(place.host->settled());
  CHECK(turn_until(place.loop, [&] { return place.lock_of("a") == "(nil)"; }));
  CHECK(place.lock_of("b") == "delay:backoff");
}

TEST_CASE("settlements that a crash of Redis interrupts are written once") {
  RedisServer server({.config = {"appendonly yes", "appendfsync always"}});
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.key_expiry = 60s;
  Host host(loop, server.url(), rule);
  for (int i = 1; i <= 5; ++i) {
    CAPTURE(i);
    ClaimReply reply;
    CHECK(turn_until(loop, [&] {
      reply = host.claim(1);
      return !reply.claims.empty();
    }));
    REQUIRE(reply.claims.size() == 1);
    host.settle(reply.claims[0], store::SetFree{}, store::FailureCount::increment, Crashed{"x"});
    for (int turn = 0; turn < i; ++turn) loop.iterate(false);
    server.kill();
    turn_for(loop, 20ms);
    server.start();
    CHECK(host.settled());
    CHECK(server.command({"HGET", "work:failures", "a"}) == std::to_string(i));
    CHECK(server.command({"LLEN", "work:runs"}) == std::to_string(i));
  }
}

TEST_CASE("a lock of a wrong type does not prevent the renewal of other locks") {
  ListConfig rule = list_rule();
  rule.key_expiry = 1s;
  rule.fleet_concurrency = 5;
  Place place(rule);
  const ClaimReply reply = place.host->claim(3);
  REQUIRE(reply.claims.size() == 3);
  place.server.command({"DEL", "work:lock:a", "work:slots"});
  place.server.command({"LPUSH", "work:lock:a", "no string"});
  place.server.command({"SET", "work:slots", "no zset"});
  turn_for(place.loop, 2500ms);
  CHECK(place.host->reported.lost == std::vector<RunId>{reply.claims[0].run});
  CHECK(place.lock_of("b") == "run:here:77:" + reply.claims[1].run);
  CHECK(place.lock_of("c") == "run:here:77:" + reply.claims[2].run);
}

TEST_CASE("the sweep deletes the entries of items that are no longer in their list") {
  Place place;
  ItemChanges changes = place.changes();
  place.server.command({"HSET", "work:failures", "a", "1", "gone", "2", "", "3"});
  place.server.command({"SET", "work:lock:gone", "quarantine:manual"});
  place.server.command({"SET", "work:proc:gone", "quarantine:manual"});
  place.server.command({"HSET", "work:quarantined", "gone", "{}", "runs", "{}"});
  place.server.command({"SET", "work:lock:runs", "run:other:1:x", "PX", "60000"});
  CHECK(changes.quarantine({"b"}, by_alice) == std::vector{QuarantinedAs::done});
  const auto before = place.host->session->client.commands_sent();
  place.host->session->circular.sweep.step();
  CHECK(place.host->session->client.commands_sent() - before == 1);
  CHECK(turn_until(place.loop, [&] {
    place.host->session->circular.sweep.step();
    return place.server.command({"HKEYS", "work:failures"}) == "a" &&
           place.server.command({"HKEYS", "work:quarantined"}) == "b";
  }));
  CHECK(place.server.command({"EXISTS", "work:lock:gone", "work:proc:gone"}) == "0");
  CHECK(place.lock_of("runs") == "run:other:1:x");
  CHECK(place.lock_of("b") == "quarantine:manual");
}

TEST_CASE("the sweep handles many lists per call, and a list of a wrong type stops no other list") {
  RedisServer server;
  loop::Loop loop;
  const auto session = open_link(loop, server.url());
  std::vector<std::unique_ptr<Told>> told;
  std::vector<std::unique_ptr<store::RedisCircularList>> sources;
  for (int i = 0; i < 150; ++i) {
    const std::string list = "l" + std::to_string(i);
    told.push_back(std::make_unique<Told>());
    sources.push_back(std::make_unique<store::RedisCircularList>(session, *told.back()));
    sources.back()->use(std::make_shared<const ListConfig>(list_rule(list)));
    server.command({"RPUSH", list + ":list", "there"});
    server.command({"HSET", list + ":failures", "gone", "1"});
  }
  server.command({"SET", "l3:list", "of a wrong type"});
  const auto left = [&] {
    int count = 0;
    for (int i = 0; i < 150; ++i)
      count += server.command({"EXISTS", "l" + std::to_string(i) + ":failures"}) == "1";
    return count;
  };
  CHECK(turn_until(loop, [&] { return session->client.connected(); }));
  int calls = 0;
  const auto step = [&] {
    const int before = left();
    session->circular.sweep.step();
    ++calls;
    turn_until(
        loop, [&] { return left() < before; }, 1s);
  };
  while (left() > 1 && calls < 20) step();
  CHECK(left() == 1);  // the list of a wrong type
  CHECK(calls <= 10);
}

TEST_CASE("a claim reads only the start of a quarantine note of any length") {
  Place place;
  place.server.command({"HSET", "work:quarantined", "a",
                        R"({"run":"01ABC","reason":")" + std::string(10000, 'x') + R"("})"});
  place.server.command(
      {"HSET", "work:quarantined", "b", std::string(10000, '"') + R"("run":"01ABC")"});
  CHECK(items_of(place.host->claim(3)) == std::vector<Item>{"c"});
  CHECK(place.lock_of("a") == "quarantine:01ABC");
  CHECK(place.lock_of("b") == "quarantine:manual");
  // The next claim does not read the notes again, because the items have locks now.
  place.server.command({"CONFIG", "RESETSTAT"});
  CHECK(place.host->claim(1).claims.empty());
  const std::string done = place.server.command({"INFO", "commandstats"});
  CHECK(done.find("cmdstat_evalsha") != std::string::npos);
  CHECK(done.find("cmdstat_hmget") == std::string::npos);
}

}  // namespace quarantine_test

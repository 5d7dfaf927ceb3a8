// Users without the permission for one Redis command: no change is made in part, and the missing
// permission is reported.
#include <doctest/doctest.h>

#include <sstream>

#include "store/circular/item_changes.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace rights_test {
namespace {

std::string url_of_user(const RedisServer& server, const std::string& user) {
  std::string url = server.url();
  return url.insert(std::string("unix://").size(), user + ":x@");
}

std::multiset<std::string> content(const RedisServer& server) {
  std::istringstream lines(server.command({"LRANGE", "work:list", "0", "-1"}));
  std::multiset<std::string> items;
  for (std::string line; std::getline(lines, line);) items.insert(line);
  return items;
}

const std::multiset<std::string> all_items = {"a", "b", "c", "d", "e"};

struct Place {
  Place() { server.command({"RPUSH", "work:list", "a", "b", "c", "d", "e"}); }
  void set_rights(const std::string& lacking) {
    server.command({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all",
                    lacking.empty() ? "+ping" : "-" + lacking});
  }
  RedisServer server;
  loop::Loop loop;
};

bool says(const ClaimReply& reply, const std::string& command) {
  std::string upper = command;
  std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
  // Redis 7.0 does not name a command that it refuses to a script. The host names a command that it
  // tests separately.
  return reply.detail.find(upper) != std::string::npos ||
         reply.detail.find("'" + command + "'") != std::string::npos ||
         reply.detail.find("can't run this command") != std::string::npos;
}

}  // namespace

TEST_CASE("a claim is refused as a whole if the user lacks a permission that its run needs") {
  for (const std::string lacking :
       {"get",   "time",  "llen",    "lrange", "getrange", "set",
        "rpush", "ltrim", "lmove",   "hmget",  "pttl",     "pexpire",
        "del",   "lpos",  "hincrby", "hdel",   "hset",     "zremrangebyscore",
        "zcard", "zadd",  "zrem"}) {
    CAPTURE(lacking);
    Place place;
    place.set_rights(lacking);
    ListConfig rule = list_rule();
    rule.fleet_concurrency = 3;
    Host host(place.loop, url_of_user(place.server, "some"), rule);
    for (int i = 0; i < 3; ++i) {
      const ClaimReply reply = host.claim(3);
      CHECK(reply.end == ClaimEnd::refused);
      CHECK(reply.claims.empty());
      CHECK(says(reply, lacking));
    }
    CHECK(place.server.command({"LRANGE", "work:list", "0", "-1"}) == "a\nb\nc\nd\ne");
    CHECK(place.server.command({"KEYS", "work:lock:*"}).empty());
    CHECK(place.server.command({"EXISTS", "work:slots", "work:paused"}) == "0");
    // The next claim succeeds once the permission is granted.
    place.set_rights("");
    CHECK(items_of(host.claim(3)) == std::vector<Item>{"a", "b", "c"});
  }
}

TEST_CASE("a permission that is withdrawn between claims leaves the list unchanged") {
  for (const std::string lacking : {"set", "rpush", "ltrim", "lmove", "hmget"}) {
    CAPTURE(lacking);
    Place place;
    place.set_rights("");
    ListConfig rule = list_rule();
    rule.key_expiry = 1s;
    Host host(place.loop, url_of_user(place.server, "some"), rule);
    host.settle(host.claim(1).claims.at(0));
    CHECK(host.settled());
    place.set_rights(lacking);
    ClaimReply reply;
    for (const std::size_t wanted : {1U, 2U, 1U, 1U}) reply = host.claim(wanted);
    CHECK(reply.end == ClaimEnd::refused);
    CHECK(says(reply, lacking));
    CHECK(content(place.server) == all_items);
    place.set_rights("");
    CHECK(turn_until(place.loop, [&] { return host.claim(5).end == ClaimEnd::nothing_free; }));
    CHECK(content(place.server) == all_items);
  }
}

TEST_CASE("a claim without a permission for scripts names it, and succeeds once it is granted") {
  for (const std::string lacking : {"eval", "evalsha"}) {
    CAPTURE(lacking);
    Place place;
    place.set_rights(lacking);
    Host host(place.loop, url_of_user(place.server, "some"), list_rule());
    // The first script on a connection is sent by EVAL, the next by EVALSHA.
    ClaimReply reply = host.claim(1);
    if (lacking == "evalsha") reply = host.claim(1);
    CHECK(reply.end == ClaimEnd::refused);
    CHECK(reply.claims.empty());
    CHECK(says(reply, lacking));
    CHECK(reply.detail.find("`ACL SETUSER some +eval +evalsha`") != std::string::npos);
    const auto connections = place.server.info("total_connections_received");
    place.server.command({"ACL", "SETUSER", "some", "+eval", "+evalsha"});
    CHECK(host.claim(1).claims.size() == 1);
    // Each command that the test sends opens a connection. The host opens none.
    CHECK(place.server.info("total_connections_received") - connections == 2);
  }
}

TEST_CASE("a settlement without a permission for scripts succeeds once it is granted") {
  Place place;
  place.set_rights("");
  Host host(place.loop, url_of_user(place.server, "some"), list_rule());
  const ClaimReply reply = host.claim(1);
  REQUIRE(reply.claims.size() == 1);
  place.set_rights("eval");  // the first call of a script is an EVAL
  host.settle(reply.claims[0]);
  turn_until(
      place.loop, [&] { return host.source.unsettled() == 0; }, 150ms);
  CHECK(host.source.unsettled() == 1);
  place.set_rights("");
  CHECK(host.settled());
  CHECK(place.server.command({"EXISTS", "work:lock:a"}) == "0");
}

TEST_CASE(
    "a settlement is written as a whole or not at all, except records, whose errors are reported") {
  for (const std::string lacking :
       {"getrange", "hlen", "del", "set", "hincrby", "hdel", "hset", "lpush", "zrem", "publish"}) {
    CAPTURE(lacking);
    Place place;
    place.set_rights("");
    Host host(place.loop, url_of_user(place.server, "some"), list_rule());
    const ClaimReply reply = host.claim(4);
    REQUIRE(reply.claims.size() == 4);
    place.set_rights(lacking);
    host.settle(reply.claims[0], store::SetFree{}, store::FailureCount::reset);
    host.settle(reply.claims[1], store::RestFor{true, 60s}, store::FailureCount::increment,
                Crashed{"x"});
    host.settle(reply.claims[2], store::Quarantine{}, store::FailureCount::increment, Crashed{"x"});
    turn_until(
        place.loop, [&] { return host.source.unsettled() == 0; }, 150ms);
    CHECK(content(place.server) == all_items);
    // The lock that is still held does not change, and no settlement is written in part.
    CHECK(place.server.command({"GET", "work:lock:d"}) == "run:here:77:" + reply.claims[3].run);
    const std::string b = place.server.command({"GET", "work:lock:b"});
    CHECK((b == "delay:backoff" || b == "run:here:77:" + reply.claims[1].run));
    // The next claim names the missing permission, unless only records need it.
    const bool noted =
        lacking == "lpush" || lacking == "zrem" || lacking == "publish" || lacking == "hlen";
    ClaimReply next = host.claim(1);
    if (!noted) next = host.claim(1);
    if (!noted) CHECK(next.end == ClaimEnd::refused);
    if (!noted) CHECK(says(next, lacking));
    place.set_rights("");
    CHECK(host.settled());
    CHECK(place.server.command({"GET", "work:lock:b"}) == "delay:backoff");
    CHECK(place.server.command({"GET", "work:lock:c"}) == "quarantine:" + reply.claims[2].run);
  }
}

TEST_CASE("a change without a permission fails as a whole") {
  for (const std::string lacking : {"getrange", "exists", "lpos", "set", "hset", "hexists", "del",
                                    "hdel", "lrem", "rpush", "publish"}) {
    CAPTURE(lacking);
    Place place;
    place.server.command({"SET", "work:lock:a", "quarantine:manual"});
    place.server.command({"HSET", "work:quarantined", "a", "{}"});
    place.server.command({"HSET", "work:failures", "a", "2", "new", "2"});
    place.server.command({"SET", "work:lock:new", "delay:backoff"});
    place.set_rights(lacking);
    redis::ClientOptions options;
    options.url = redis::parse_url(url_of_user(place.server, "some"));
    redis::SyncClient client(place.loop, options);
    store::ItemChanges changes(client, store::CircularKeys("work:"));
    const auto state = [&] {
      return place.server.command({"LRANGE", "work:list", "0", "-1"}) + "|" +
             place.server.command({"MGET", "work:lock:a", "work:lock:b", "work:lock:new"}) + "|" +
             place.server.command({"HGETALL", "work:quarantined"}) + "|" +
             place.server.command({"HGETALL", "work:failures"});
    };
    const std::string before = state();
    int refused = 0;
    const auto whole = [&](const auto& change) {
      try {
        change();
      } catch (const redis::RedisError&) {
        ++refused;
        CHECK(state() == before);
      }
      place.server.command(
          {"DEL", "work:list", "work:quarantined", "work:failures", "work:lock:b"});
      place.server.command({"RPUSH", "work:list", "a", "b", "c", "d", "e"});
      place.server.command({"SET", "work:lock:a", "quarantine:manual"});
      place.server.command({"SET", "work:lock:new", "delay:backoff"});
      place.server.command({"HSET", "work:quarantined", "a", "{}"});
      place.server.command({"HSET", "work:failures", "a", "2", "new", "2"});
    };
    whole([&] { changes.quarantine({"b"}, {}); });
    whole([&] { changes.release({"a"}); });
    whole([&] { changes.remove({"a"}); });
    whole([&] { changes.add({"new"}, false); });
    CHECK(refused > 0);
  }
}

TEST_CASE("records that may not be written are reported once, with the missing ACL rule") {
  struct Lack {
    std::string rule;
    std::string missing;
    std::string lost;
  };
  for (const Lack& lack :
       {Lack{"-lpush", "+lpush", "history"}, Lack{"-publish", "+publish", "published"},
        Lack{"resetchannels", "&PREFIX:*", "published"}}) {
    CAPTURE(lack.rule);
    Place place;
    const auto set_rights = [&](const std::string& rule) {
      place.server.command(
          {"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all", rule});
    };
    set_rights("+ping");
    Host host(place.loop, url_of_user(place.server, "some"), list_rule());
    set_rights(lack.rule);
    for (int i = 0; i < 3; ++i) {
      const ClaimReply reply = host.claim(1);
      REQUIRE(reply.claims.size() == 1);
      host.settle(reply.claims[0]);
      CHECK(host.settled());
      CHECK(place.server.command({"KEYS", "work:lock:*"}).empty());
    }
    REQUIRE(host.reported.unwritten.size() == 1);
    const std::string& why = host.reported.unwritten[0];
    CAPTURE(why);
    CHECK(why.find(lack.missing) != std::string::npos);
    CHECK(why.find(lack.lost) != std::string::npos);
    // A claim that is handed back does not end the error. The next run does.
    set_rights("+ping");
    host.source.hand_back(host.claim(1).claims.at(0));
    CHECK(host.settled());
    CHECK(host.reported.unwritten.size() == 1);
    host.settle(host.claim(1).claims.at(0));
    CHECK(host.settled());
    CHECK(host.reported.unwritten.size() == 2);
    CHECK(host.reported.unwritten.back().empty());
  }
}

TEST_CASE("a history of a wrong type is reported, too") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  server.command({"SET", "work:runs", "mine"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  host.settle(host.claim(1).claims.at(0));
  CHECK(host.settled());
  REQUIRE(host.reported.unwritten.size() == 1);
  CHECK(host.reported.unwritten[0].find("LTRIM: WRONGTYPE") != std::string::npos);
  CHECK(host.reported.unwritten[0].find("wrong type is renamed") != std::string::npos);
}

}  // namespace rights_test

// Users who lack the right to one command: nothing is changed by halves, and what is missing is
// told.
#include <doctest/doctest.h>

#include "source/host.hpp"

using namespace w8y;
using namespace w8y::test;

namespace {

std::string url_of_user(const RedisServer& server, const std::string& user) {
  std::string url = server.url();
  return url.insert(std::string("unix://").size(), user + ":x@");
}

std::multiset<std::string> content(const RedisServer& server) {
  std::istringstream lines(server.ask({"LRANGE", "work:list", "0", "-1"}));
  std::multiset<std::string> items;
  for (std::string line; std::getline(lines, line);) items.insert(line);
  return items;
}

const std::multiset<std::string> all_items = {"a", "b", "c", "d", "e"};

struct Place {
  Place() { server.ask({"RPUSH", "work:list", "a", "b", "c", "d", "e"}); }
  void set_rights(const std::string& lacking) {
    server.ask({"ACL", "SETUSER", "some", "reset", "on", "nopass", "~*", "&*", "+@all",
                lacking.empty() ? "+ping" : "-" + lacking});
  }
  RedisServer server;
  loop::Loop loop;
};

bool says(const ClaimReply& reply, const std::string& command) {
  std::string upper = command;
  std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
  // Redis doesn't say which command of a script it was; what is proved by itself is named.
  return reply.detail.find(upper) != std::string::npos ||
         reply.detail.find("can't run this command") != std::string::npos;
}

}  // namespace

TEST_CASE("a claim is refused whole if the user lacks a command that its run would need") {
  for (const std::string lacking :
       {"get",   "time",  "llen",    "lrange", "mget", "set",
        "rpush", "ltrim", "lmove",   "hmget",  "pttl", "pexpire",
        "del",   "lpos",  "hincrby", "hdel",   "hset", "zremrangebyscore",
        "zcard", "zadd",  "zrem"}) {
    CAPTURE(lacking);
    Place place;
    place.set_rights(lacking);
    Rule rule = list_rule();
    rule.fleet_concurrency = 3;
    Host host(place.loop, url_of_user(place.server, "some"), rule);
    for (int i = 0; i < 3; ++i) {
      const ClaimReply reply = host.claim(3);
      CHECK(reply.end == ClaimEnd::refused);
      CHECK(reply.claims.empty());
      CHECK(says(reply, lacking));
    }
    CHECK(place.server.ask({"LRANGE", "work:list", "0", "-1"}) == "a\nb\nc\nd\ne");
    CHECK(place.server.ask({"KEYS", "work:lock:*"}).empty());
    CHECK(place.server.ask({"EXISTS", "work:slots", "work:paused"}) == "0");
    // Once it may, all goes on by itself.
    place.set_rights("");
    CHECK(items_of(host.claim(3)) == std::vector<Item>{"a", "b", "c"});
  }
}

TEST_CASE("a right that is taken away between claims: the list stays what it is") {
  for (const std::string lacking : {"set", "rpush", "ltrim", "lmove", "hmget", "mget"}) {
    CAPTURE(lacking);
    Place place;
    place.set_rights("");
    Rule rule = list_rule();
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

TEST_CASE("scripts are used again once the user may run them") {
  RedisServer server({.config = no_scripts});
  server.ask({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, url_for(server, false), list_rule());
  CHECK(host.claim(1).end == ClaimEnd::refused);
  host.settle(host.claim(1).claims.at(0));
  CHECK(host.settled());
  server.ask({"ACL", "SETUSER", "plain", "+@scripting"});
  server.ask({"CLIENT", "KILL", "USER", "plain"});
  CHECK(turn_until(loop, [&] { return !host.link->client.connected(); }));
  CHECK(turn_until(loop, [&] { return host.link->client.connected(); }));
  const auto scripts = [&] {
    return server.ask({"INFO", "commandstats"}).find("cmdstat_evalsha") != std::string::npos;
  };
  CHECK(turn_until(loop, [&] {
    for (const Claim& claim : host.claim(1).claims) host.settle(claim);
    return scripts();
  }));
}

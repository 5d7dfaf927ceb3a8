#include <doctest/doctest.h>

#include "core/circular_settings.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

TEST_CASE("a claim rotates the list, locks its items and increases the fence") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(2);
  CHECK(items_of(reply) == std::vector<Item>{"a", "b"});
  CHECK(reply.end == ClaimEnd::more);
  CHECK(server.command({"LRANGE", "work:list", "0", "-1"}) == "c\na\nb");
  CHECK(reply.claims[1].fence > reply.claims[0].fence);
  CHECK(server.command({"GET", "work:fence"}) == std::to_string(reply.claims[1].fence.value()));
  CHECK(server.command({"GET", "work:lock:a"}) == "run:here:77:" + reply.claims[0].run);
  CHECK(std::stoi(server.command({"PTTL", "work:lock:a"})) > 4000);

  const ClaimReply rest = host.claim(5);
  CHECK(items_of(rest) == std::vector<Item>{"c"});
  CHECK(rest.end == ClaimEnd::nothing_free);
  CHECK(rest.next_free);
  CHECK(rest.claims[0].fence > reply.claims[1].fence);

  host.settle(reply.claims[0]);
  CHECK(host.settled());
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
  CHECK(items_of(host.claim(1)) == std::vector<Item>{"a"});
}

TEST_CASE("items are bytes") {
  const std::vector<Item> items = {
      "",          std::string(65536, 'x'), std::string("nul\0byte", 8),
      "new\nline", "\"quotes\" 'and' {}",   "\xff\xfe invalid",
      "* ? [a]"};
  RedisServer server;
  for (const Item& item : items) server.command({"RPUSH", "work:list", item});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(items.size());
  CHECK(items_of(reply) == items);
  for (const Claim& claim : reply.claims)
    host.settle(claim, store::RestFor{true, 60s}, store::FailureCount::increment, Crashed{"x"});
  CHECK(host.settled());
  CHECK(server.command({"HLEN", "work:failures"}) == std::to_string(items.size()));
  CHECK(server.command({"LLEN", "work:list"}) == std::to_string(items.size()));
  CHECK(server.command({"GET", "work:lock:" + items[2]}) == "delay:backoff");
  CHECK(server.command({"LLEN", "work:runs"}) == std::to_string(items.size()));
}

TEST_CASE("key prefixes are bytes and may be empty") {
  for (const std::string& prefix : {std::string(), std::string("a b\n\xff"), std::string("x:y")}) {
    RedisServer server;
    const std::string keys = prefix.empty() ? "" : prefix + ":";
    server.command({"RPUSH", keys + "list", "a"});
    loop::Loop loop;
    Host host(loop, server.url(), list_rule(prefix));
    CHECK(items_of(host.claim(1)) == std::vector<Item>{"a"});
    CHECK(server.command({"EXISTS", keys + "lock:a"}) == "1");
  }
}

TEST_CASE("an item that is twice in the list is held once") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "a", "b", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  CHECK(items_of(host.claim(4)) == std::vector<Item>{"a", "b"});
  CHECK(server.command({"LLEN", "work:list"}) == "4");
}

TEST_CASE("a claim respects locks of any type, and locks with the older name") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c", "d"});
  server.command({"SET", "work:lock:a", "1"});
  server.command({"LPUSH", "work:lock:b", "no string"});
  server.command({"SET", "work:proc:c", "1"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  CHECK(items_of(host.claim(4)) == std::vector<Item>{"c", "d"});
  ListConfig older = list_rule();
  older.circular().lock_key = "proc";
  Host old(loop, server.url(), older);
  CHECK(old.claim(4).claims.empty());
  server.command({"DEL", "work:lock"});  // as if no host used the other name any more
  CHECK(items_of(old.claim(4)).size() == 3);
}

TEST_CASE("hosts with the same name and pid, as in containers, have different names in locks") {
  using Holder = store::RedisSession::Holder;
  CHECK(Holder{"h", 1, 123456, false}.lock("R") == "run:h:1:R");
  CHECK(Holder{"h", 1, 123456, true}.lock("R") == "run:h:1.3456:R");
  CHECK(Holder{"h", 1, 7, true}.lock("R") == "run:h:1.7:R");
}

TEST_CASE("a host respects locks of both names while hosts use both") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c"});
  loop::Loop loop;
  ListConfig changed = list_rule();
  changed.circular().lock_key = "proc";
  changed.key_expiry = 60s;
  ListConfig rule = list_rule();
  rule.key_expiry = 60s;
  Host one(loop, server.url(), rule, "one");
  Host two(loop, server.url(), changed, "two");
  const ClaimReply first = one.claim(1);
  REQUIRE(items_of(first) == std::vector<Item>{"a"});
  CHECK(server.command({"PTTL", "work:lock"}) == "-1");
  const ClaimReply second = two.claim(3);
  CHECK(items_of(second) == std::vector<Item>{"b", "c"});
  CHECK(server.command({"PTTL", "work:proc"}) == "-1");
  CHECK(std::stoi(server.command({"PTTL", "work:lock"})) > 100'000);
  CHECK(one.claim(3).claims.empty());
  CHECK(server.command({"PTTL", "work:lock"}) == "-1");
  CHECK(std::stoi(server.command({"PTTL", "work:proc"})) > 100'000);
  // A claim of one item and a renewal that would lock an item again respect both names, too.
  std::optional<ItemClaim> named;
  two.source.claim_item("a", [&](ItemClaim&& claim) { named = std::move(claim); });
  CHECK(turn_until(loop, [&] { return named.has_value(); }));
  CHECK(named->result == ItemClaim::Result::running);
  server.command({"PEXPIRE", "work:lock", "100"});
  server.command({"DEL", "work:lock:a"});
  server.command({"SET", "work:proc:a", "run:two:1:x"});
  one.session->leases.renew_now();
  CHECK(turn_until(loop, [&] { return std::stoi(server.command({"PTTL", "work:lock"})) > 1000; }));
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
}

TEST_CASE("a claim of a free item behind 1,000 locked items sends at most five commands") {
  RedisServer server;
  for (int i = 0; i < 1000; ++i) {
    server.command({"RPUSH", "work:list", std::to_string(i)});
    server.command({"SET", "work:lock:" + std::to_string(i), "run:other:1:x", "PX", "60000"});
  }
  server.command({"RPUSH", "work:list", "free"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  const auto before = host.session->client.commands_sent();
  CHECK(items_of(host.claim(1)) == std::vector<Item>{"free"});
  CHECK(host.session->client.commands_sent() - before <= 5);
  CHECK(server.command({"LLEN", "work:list"}) == "1001");
  CHECK(server.command({"LINDEX", "work:list", "0"}) == "0");
}

TEST_CASE("a long scan continues in large steps and counts their cost") {
  RedisServer server;
  for (int i = 0; i < 3000; ++i) {
    server.command({"RPUSH", "work:list", std::to_string(i)});
    server.command({"SET", "work:lock:" + std::to_string(i), "delay:cooldown", "PX", "300000"});
  }
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  const auto before = host.session->client.commands_sent();
  const ClaimReply reply = host.claim(1);
  CHECK(reply.end == ClaimEnd::nothing_free);
  CHECK(reply.whole);
  CHECK(reply.calls >= 3000 / 256);
  CHECK(reply.calls <= 3000 / 256 + 2);
  CHECK(host.session->client.commands_sent() - before <= 6);
  CHECK(server.command({"LLEN", "work:list"}) == "3000");
  CHECK(server.command({"LINDEX", "work:list", "0"}) == "0");
  CHECK(server.command({"LINDEX", "work:list", "-1"}) == "2999");
}

TEST_CASE("a scan of a locked list reads each item once and returns the time until one is free") {
  RedisServer server;
  for (int i = 0; i < 300; ++i) {
    server.command({"RPUSH", "work:list", std::to_string(i)});
    server.command({"SET", "work:lock:" + std::to_string(i), "delay:cooldown", "PX", "30000"});
  }
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(3);
  CHECK(reply.end == ClaimEnd::nothing_free);
  CHECK(reply.calls == 2);
  REQUIRE(reply.next_free);
  CHECK(*reply.next_free <= 30s);
  CHECK(*reply.next_free > 20s);
}

TEST_CASE("a claim distinguishes paused, empty and unusable lists") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  CHECK(host.claim(1).end == ClaimEnd::empty);
  server.command({"RPUSH", "work:list", "a"});
  server.command({"SET", "work:paused", "lunch", "PX", "60000"});
  const ClaimReply paused = host.claim(1);
  CHECK(paused.end == ClaimEnd::paused);
  CHECK(paused.detail == "lunch");
  server.command({"DEL", "work:paused", "work:list"});
  server.command({"SET", "work:list", "no list"});
  const ClaimReply wrong = host.claim(1);
  CHECK(wrong.end == ClaimEnd::refused);
  CHECK(wrong.detail.find("WRONGTYPE") != std::string::npos);
  server.command({"DEL", "work:list"});
  server.command({"RPUSH", "work:list", "a"});
  CHECK(items_of(host.claim(1)) == std::vector<Item>{"a"});
}

TEST_CASE("keys of a wrong type beside the lock do not prevent a claim or its settlement") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  server.command({"SET", "work:failures", "no hash"});
  server.command({"LPUSH", "work:fence", "no number"});
  server.command({"SET", "work:runs", "no stream"});
  server.command({"SET", "work:slots", "no zset"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(1);
  CHECK(items_of(reply) == std::vector<Item>{"a"});
  host.settle(reply.claims[0], store::SetFree{}, store::FailureCount::reset);
  CHECK(host.settled());
  CHECK(server.command({"EXISTS", "work:lock:a"}) == "0");
}

TEST_CASE("the fence grows even if its key is lost") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c", "d"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const auto first = host.claim(1).claims.at(0).fence;
  REQUIRE(first);
  server.command({"DEL", "work:fence"});
  const auto second = host.claim(1).claims.at(0).fence;
  CHECK(second > first);
  CHECK(server.command({"GET", "work:fence"}) == std::to_string(*second));
  // After a failover, the key and the clock may be behind the last fence of this host.
  server.command({"SET", "work:fence", std::to_string(*second + 60'000'000)});
  const auto third = host.claim(1).claims.at(0).fence;
  CHECK(third == *second + 60'000'001);
  server.command({"DEL", "work:fence"});
  CHECK(host.claim(1).claims.at(0).fence == *third + 1);
}

TEST_CASE("fleet_concurrency limits all hosts together, and the slot of a dead host is released") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c", "d", "e"});
  ListConfig rule = list_rule();
  rule.fleet_concurrency = 3;
  rule.key_expiry = 1s;
  rule.supervised = false;  // no host joins a wait queue
  loop::Loop loop;
  Host one(loop, server.url(), rule, "one");
  auto two = std::make_unique<Host>(loop, server.url(), rule, "two");
  CHECK(items_of(one.claim(2)).size() == 2);
  CHECK(items_of(two->claim(2)).size() == 1);
  CHECK(two->claim(1).end == ClaimEnd::fleet_full);
  CHECK(one.claim(1).end == ClaimEnd::fleet_full);
  // Fleet slots are renewed with the locks.
  turn_for(loop, 1500ms);
  CHECK(one.claim(1).end == ClaimEnd::fleet_full);
  one.settle(one.reported.claims[0]);
  CHECK(one.settled());
  CHECK(items_of(one.claim(1)).size() == 1);
  // The fleet slot of a dead host is free when its lock has expired.
  two.reset();
  CHECK(turn_until(loop, [&] { return !one.claim(1).claims.empty(); }));
}

TEST_CASE("each item has one holder when two hosts claim from a list") {
  RedisServer server;
  for (int i = 0; i < 200; ++i) server.command({"RPUSH", "work:list", std::to_string(i)});
  loop::Loop loop;
  Host one(loop, server.url(), list_rule(), "one");
  Host two(loop, server.url(), list_rule(), "two");
  std::set<Item> taken;
  for (int i = 0; i < 30; ++i) {
    one.source.claim(3, store::Scan::whole, store::Manner::in_turn);
    two.source.claim(4, store::Scan::whole, store::Manner::in_turn);
    const auto turns = static_cast<std::size_t>(i + 1);
    turn_until(loop, [&] {
      return one.reported.replies.size() == turns && two.reported.replies.size() == turns;
    });
  }
  std::size_t claims = 0;
  for (const auto* host : {&one, &two})
    for (const Claim& claim : host->reported.claims) {
      taken.insert(claim.item);
      ++claims;
    }
  CHECK(claims == 200);
  CHECK(taken.size() == 200);
}

namespace claim_item_test {

using Result = ItemClaim::Result;

ItemClaim claim_item(Host& host, const Item& item) {
  std::optional<ItemClaim> told;
  host.source.claim_item(item, [&told](ItemClaim&& claim) { told = std::move(claim); });
  REQUIRE(turn_until(host.loop, [&] { return told.has_value(); }));
  return *told;
}

TEST_CASE("a claim of one item ignores its delay") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "free", "rests", "busy", "parked", "noted", "odd"});
  server.command({"SET", "work:lock:rests", "delay:backoff", "PX", "100000"});
  server.command({"HSET", "work:failures", "rests", "3"});
  server.command({"SET", "work:lock:busy", "run:beta:7:01K"});
  server.command({"SET", "work:lock:parked", "quarantine:manual"});
  server.command({"HSET", "work:quarantined", "noted", "{}"});
  server.command({"RPUSH", "work:lock:odd", "no string"});
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());

  const ItemClaim rests = claim_item(host, "rests");
  REQUIRE(rests.result == Result::claimed);
  CHECK(rests.claim->attempt == 4);
  CHECK(rests.claim->fence > 0);
  CHECK(server.command({"GET", "work:fence"}) == std::to_string(rests.claim->fence.value()));
  CHECK(server.command({"GET", "work:lock:rests"}) == "run:here:77:" + rests.claim->run);
  CHECK(std::stoi(server.command({"PTTL", "work:lock:rests"})) <= 5000);
  CHECK(server.command({"LINDEX", "work:list", "0"}) == "free");  // the list stays as it is

  CHECK(claim_item(host, "rests").result == Result::running);
  const ItemClaim busy = claim_item(host, "busy");
  CHECK(busy.result == Result::running);
  CHECK(busy.detail == "run:beta:7:01K");
  CHECK(claim_item(host, "parked").result == Result::quarantined);
  CHECK(claim_item(host, "noted").result == Result::quarantined);
  CHECK(claim_item(host, "gone").result == Result::not_listed);
  CHECK(claim_item(host, "odd").result == Result::running);
  server.command({"SET", "work:paused", "new disks"});
  const ItemClaim paused = claim_item(host, "free");
  CHECK(paused.result == Result::paused);
  CHECK(paused.detail == "new disks");
  server.command({"DEL", "work:paused"});
  const ItemClaim free = claim_item(host, "free");
  CHECK(free.result == Result::claimed);
  CHECK(free.claim->fence > rests.claim->fence);

  host.settle(*free.claim);
  host.settle(*rests.claim, store::SetFree{}, store::FailureCount::reset);
  CHECK(host.settled());
  CHECK(server.command({"EXISTS", "work:lock:rests", "work:lock:free"}) == "0");
  CHECK(server.command({"HEXISTS", "work:failures", "rests"}) == "0");
}

TEST_CASE("a claim of one item respects fleet_concurrency, and the item has one holder") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b"});
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.fleet_concurrency = 1;
  Host alpha(loop, server.url(), rule, "alpha");
  Host beta(loop, server.url(), rule, "beta");
  std::vector<ItemClaim> told;
  const auto keep = [&told](ItemClaim&& claim) { told.push_back(std::move(claim)); };
  alpha.source.claim_item("a", keep);
  beta.source.claim_item("a", keep);
  REQUIRE(turn_until(loop, [&] { return told.size() == 2; }));
  const auto claimed = std::ranges::count_if(
      told, [](const ItemClaim& claim) { return claim.result == Result::claimed; });
  CHECK(claimed == 1);
  CHECK(claim_item(beta, "b").result == Result::fleet_full);
  CHECK(server.command({"ZCARD", "work:slots"}) == "1");
}

TEST_CASE("a claim of one item gives it one holder, also beside ordinary claims") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host alpha(loop, server.url(), list_rule(), "alpha");
  Host beta(loop, server.url(), list_rule(), "beta");
  for (int i = 0; i < 20; ++i) {
    std::optional<ItemClaim> named;
    beta.source.claim_item("a", [&named](ItemClaim&& claim) { named = std::move(claim); });
    const ClaimReply reply = alpha.claim(1);
    REQUIRE(turn_until(loop, [&] { return named.has_value(); }));
    CHECK(reply.claims.size() + (named->claim ? 1 : 0) == 1);
    if (named->claim) beta.settle(*named->claim);
    for (const Claim& claim : reply.claims) alpha.settle(claim);
    REQUIRE(alpha.settled());
    REQUIRE(beta.settled());
  }
}

}  // namespace claim_item_test

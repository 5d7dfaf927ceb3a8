// Cost of long items, locks and quarantine notes: memory of a host, peeks, and the bytes read.
#include <doctest/doctest.h>

#include "large_items.hpp"

using namespace w8y;
using namespace w8y::test;

TEST_CASE("the reason of a pause is truncated before it is transferred") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  server.command({"SET", "work:paused", std::string(8 * mebibyte, 'p')});
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  Drops drops(*host.session);
  const ClaimReply reply = host.claim(1);
  CHECK(reply.end == ClaimEnd::paused);
  CHECK(reply.detail == std::string(item_shown, 'p'));
  CHECK(drops.count == 0);
  server.command({"SET", "work:paused", ""});
  CHECK(host.claim(1).end == ClaimEnd::paused);
}

TEST_CASE("a claim carries no more run ids than one call can use") {
  RedisServer server;
  fill(server, 600, 1);
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  host.claim(1);
  const auto before = server.info("total_net_input_bytes");
  const ClaimReply reply = host.claim(20'000);
  CHECK(reply.claims.size() == 256);
  CHECK(reply.end == ClaimEnd::more);
  CHECK(server.info("total_net_input_bytes") - before < 16 * 1024);
  CHECK(host.claim(20'000).claims.size() == 256);
  CHECK(host.claim(20'000).claims.size() == 87);
}

TEST_CASE(
    "a peek at long locked items reads few of them and is charged, and further peeks read all") {
  RedisServer server;
  fill(server, 20, 600 * 1024);
  server.command({"EVAL",
                  "for _, item in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do "
                  "redis.call('SET', 'work:lock:' .. item, 'delay:cooldown', 'PX', 600000) end",
                  "1", "work:list"});
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  ClaimReply reply = host.claim(1);
  CHECK(reply.end == ClaimEnd::nothing_free);
  CHECK(reply.calls > 20);  // the cost to Redis, in commands
  const auto look = [&] {
    host.reported.peeks.clear();
    host.source.look(store::Look::items);
    turn_until(loop, [&] { return !host.reported.peeks.empty(); });
    return host.reported.peeks.empty() ? store::LookReply{} : host.reported.peeks.front();
  };
  CHECK_FALSE(look().worth_it);
  CHECK(look().cost > 5);
  // Any item that becomes free is found by a later peek.
  server.command({"EVAL", "redis.call('DEL', 'work:lock:' .. redis.call('LINDEX', KEYS[1], 13))",
                  "1", "work:list"});
  int looks = 1;
  while (!look().worth_it && looks < 40) ++looks;
  CHECK(looks > 1);
  CHECK(looks < 40);
}

TEST_CASE("lists share the memory for long items") {
  RedisServer server;
  for (const auto& [list, items] : std::map<std::string, int>{{"a:list", 18}, {"b:list", 2}})
    for (int i = 0; i < items; ++i)  // one by one, because each takes long
      server.command({"EVAL", "redis.call('RPUSH', KEYS[1], ARGV[1] .. string.rep('x', 16000000))",
                      "1", list, std::to_string(i)});
  loop::Loop loop;
  auto session = open_link(loop, server.url());
  ListConfig rule = long_rule();
  rule.prefix = "a";
  Host first(loop, session, rule);
  rule.prefix = "b";
  Host second(loop, session, rule);
  const std::size_t held = claim_all(first, 18);
  CHECK(held == 16);
  // The length of the first item is not known before the claim.
  CHECK(claim_all(second, 2) == 1);
  CHECK(session->item_room.held() <= store::ItemRoom::most + max_item);
  const int turns = second.reported.turns;
  for (std::size_t i = 0; i < 3 && i < first.reported.claims.size(); ++i)
    first.settle(first.reported.claims[i]);
  CHECK(turn_until(loop, [&] { return second.reported.turns > turns; }));
  CHECK(second.claim(1).claims.size() == 1);
  CHECK(first.claim(1).claims.empty());  // it has more than its half
}

TEST_CASE("a host reads only the start of the lock of another client, which may have any length") {
  RedisServer server;
  for (int i = 0; i < 12; ++i) server.command({"RPUSH", "work:list", "mine" + std::to_string(i)});
  const auto make_long = [&](const std::string& item, const std::string& begins) {
    server.command({"SETRANGE", "work:lock:" + item, std::to_string(8 * mebibyte), "x"});
    server.command({"SETRANGE", "work:lock:" + item, "0", begins});
  };
  for (int i = 0; i < 12; ++i) {
    server.command({"RPUSH", "work:list", "theirs" + std::to_string(i)});
    make_long("theirs" + std::to_string(i), i % 2 == 0 ? "run:" : "");
  }
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.key_expiry = 2s;  // so renewals come soon
  Host host(loop, server.url(), rule);
  Drops drops(*host.session);
  const auto before = server.info("used_memory_peak");
  const auto sent = server.info("total_net_output_bytes");
  CHECK(claim_all(host, 24) == 12);
  for (int i = 0; i < 4; ++i) CHECK(host.claim(8).claims.empty());
  // The same applies to long keys that replace locks of this host. The keys need memory in Redis,
  // but Redis does not copy the keys.
  for (int i = 0; i < 6; ++i) make_long("mine" + std::to_string(i), "");
  const auto with_more = server.info("used_memory");
  CHECK(turn_until(loop, [&] { return host.reported.lost.size() == 6; }));
  for (const Claim& claim : host.reported.claims)
    host.settle(claim, store::RestFor{true, 60s}, store::FailureCount::increment, Crashed{"x"});
  CHECK(host.settled());
  CHECK(static_cast<std::size_t>(server.info("used_memory_peak")) <
        static_cast<std::size_t>(std::max(before, with_more)) + 6 * mebibyte);
  CHECK(server.info("total_net_output_bytes") - sent < 256 * 1024);
  CHECK(drops.count == 0);
  CHECK(server.command({"STRLEN", "work:lock:mine0"}) == std::to_string(8 * mebibyte + 1));
  CHECK(server.command({"STRLEN", "work:lock:theirs0"}) == std::to_string(8 * mebibyte + 1));
  CHECK(server.command({"GET", "work:lock:mine11"}) == "delay:backoff");
}

TEST_CASE("an invalid failure count of any length is ignored") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c"});
  server.command({"HSET", "work:failures", "a", std::string(8 * mebibyte, 'f'), "b", "7"});
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  const auto sent = server.info("total_net_output_bytes");
  CHECK(claim_all(host, 3) == 3);
  std::map<Item, unsigned> failures;
  for (const Claim& claim : host.reported.claims) failures[claim.item] = claim.attempt - 1;
  CHECK(failures == std::map<Item, unsigned>{{"a", 0}, {"b", 7}, {"c", 0}});
  CHECK(server.info("total_net_output_bytes") - sent < 64 * 1024);
  for (const Claim& claim : host.reported.claims)
    host.settle(claim, store::SetFree{}, store::FailureCount::increment, Crashed{"x"});
  CHECK(host.settled());
  CHECK(server.command({"HMGET", "work:failures", "a", "b", "c"}).substr(0, 20) == "1\n8\n1");
}

TEST_CASE("long locks and notes are not transferred when their items are released") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a", "b", "c", "d"});
  fill(server, 1, 6 * mebibyte);
  server.command({"SETRANGE", "work:lock:a", std::to_string(8 * mebibyte), "x"});
  server.command({"SETRANGE", "work:lock:b", std::to_string(8 * mebibyte), "x"});
  server.command({"SETRANGE", "work:lock:b", "0", "quarantine:"});
  server.command({"SET", "work:lock:c", "quarantine:manual"});
  server.command({"HSET", "work:quarantined", "d", std::string(8 * mebibyte, 'q')});
  loop::Loop loop;
  redis::ClientOptions options;
  options.url = redis::parse_url(server.url());
  redis::SyncClient client(loop, options);
  store::ItemChanges changes(client, store::CircularKeys("work:"));
  const auto sent = server.info("total_net_output_bytes");
  std::vector<Item> items{"b", "c"};
  for (const auto& each : changes.quarantined()) items.push_back(each.item);
  CHECK(changes.release(items) == std::vector(3, store::ReleasedAs::released));
  CHECK(server.info("total_net_output_bytes") - sent < 64 * 1024);
  CHECK(server.command({"STRLEN", "work:lock:a"}) == std::to_string(8 * mebibyte + 1));
}

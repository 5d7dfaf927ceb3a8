// Items that are long enough to block a host: no request or reply is longer than a connection can
// carry, and items that are too long are quarantined.
#include <doctest/doctest.h>

#include "large_items.hpp"

using namespace w8y;
using namespace w8y::test;

TEST_CASE("an in-doubt claim is found among 300 items of 600 KiB") {
  RedisServer server;
  const int items = 300;
  fill(server, items, 600 * 1024);
  loop::Loop loop;
  Host host(loop, impatient_link(loop, server.url()), long_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  Drops drops(*host.session);
  server.pause();
  CHECK(host.claim(3).end == ClaimEnd::unavailable);
  server.resume();
  CHECK(turn_until(loop, [&] { return host.session->in_doubt_claims.size() == 0; }));
  CHECK(locks(server) == 0);
  CHECK(drops.count == 1);  // because of the pause only
  CHECK(claim_all(host, 3) == 3);
  CHECK(server.command({"LLEN", "work:list"}) == std::to_string(items));
}

TEST_CASE("140 items of 1 MiB are claimed in parts and settled together") {
  RedisServer server;
  const std::size_t items = 140;
  fill(server, static_cast<int>(items), mebibyte);
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  Drops drops(*host.session);
  CHECK(claim_all(host, items) == items);
  CHECK(locks(server) == items);
  std::set<std::string> numbers;
  std::size_t unsent = 0;
  for (const Claim& claim : host.reported.claims) {
    numbers.insert(number_of(claim.item));
    host.settle(claim);
    unsent = std::max(unsent, host.session->client.unsent());
  }
  CHECK(numbers.size() == items);
  turn_until(loop, [&] {
    unsent = std::max(unsent, host.session->client.unsent());
    return host.source.unsettled() == 0;
  });
  CHECK(host.source.unsettled() == 0);
  CHECK(unsent < 24 * mebibyte);
  CHECK(drops.count == 0);
  CHECK(locks(server) == 0);
  CHECK(server.command({"LLEN", "work:runs"}) == std::to_string(items));
}

TEST_CASE("400 settlements of 64 KiB that wait for the end of an outage are written") {
  RedisServer server;
  const std::size_t items = 400;
  fill(server, static_cast<int>(items), 64 * 1024);
  loop::Loop loop;
  Host host(loop, impatient_link(loop, server.url()), long_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  CHECK(claim_all(host, items) == items);
  Drops drops(*host.session);
  server.pause();
  for (const Claim& claim : host.reported.claims) host.settle(claim);
  CHECK(turn_until(loop, [&] { return drops.count > 0; }));
  server.resume();
  CHECK(host.settled());
  CHECK(drops.count == 1);
  CHECK(locks(server) == 0);
  CHECK(server.command({"LLEN", "work:runs"}) == std::to_string(items));
}

TEST_CASE("history and events have the first 4 KiB of an item and its length") {
  const std::size_t length = 9 * 1024 * 1024 + 2;
  RedisServer server;
  fill(server, 1, length - 2, "\x01");
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  Drops drops(*host.session);
  std::string heard;
  redis::ClientOptions options;
  options.url = redis::parse_url(server.url());
  redis::Subscriber ears(loop, options);
  const auto events =
      ears.subscribe("work:events", [&](std::string_view, std::string_view text) { heard = text; });
  CHECK(turn_until(loop, [&] { return ears.connected(); }));
  const ClaimReply reply = host.claim(1);
  REQUIRE(reply.claims.size() == 1);
  CHECK(reply.claims[0].item.size() == length);
  const auto before = server.info("total_net_input_bytes");
  host.settle(reply.claims[0]);
  CHECK(host.settled());
  CHECK(drops.count == 0);
  const auto carried = static_cast<std::size_t>(server.info("total_net_input_bytes") - before);
  CHECK(carried < length + mebibyte);
  CHECK(turn_until(loop, [&] { return !heard.empty(); }));
  CHECK(heard.size() < 7 * item_shown);
  CHECK(heard.find("\"item_length\":" + std::to_string(length)) != std::string::npos);
  const std::string entry = server.command({"LRANGE", "work:runs", "0", "-1"});
  CHECK(entry.find("\"item_length\":" + std::to_string(length)) != std::string::npos);
  CHECK(entry.size() < 7 * item_shown);
  CHECK(locks(server) == 0);
}

TEST_CASE("a truncated item does not end within a character") {
  RedisServer server;
  fill(server, 1, 3000, "\u20ac");
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  const ClaimReply reply = host.claim(1);
  REQUIRE(reply.claims.size() == 1);
  host.settle(reply.claims[0]);
  CHECK(host.settled());
  const std::string entry = server.command({"LRANGE", "work:runs", "0", "-1"});
  std::string shown = "1:";
  while (shown.size() + 3 <= item_shown) shown += "\u20ac";
  CHECK(entry.find("\"item\":\"" + shown + "\",\"item_length\"") != std::string::npos);
  CHECK(shown_part(reply.claims[0].item) == shown);
}

TEST_CASE("items longer than 16 MiB are quarantined and never transferred whole") {
  RedisServer server;
  fill(server, 1, 23 * mebibyte);
  server.command({"RPUSH", "work:list", "a"});
  fill(server, 1, max_item - 2, "y");
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  turn_until(loop, [&] { return host.session->client.connected(); });
  Drops drops(*host.session);
  const auto before = server.info("total_net_output_bytes");
  ClaimReply reply = host.claim(1);
  CHECK(items_of(reply) == std::vector<Item>{"a"});
  REQUIRE(reply.parked.size() == 1);
  CHECK(reply.parked[0].item.length == 23 * mebibyte + 2);
  CHECK(reply.parked[0].item.beginning == "1:" + std::string(item_shown - 2, 'x'));
  CHECK(server.info("total_net_output_bytes") - before < 64 * 1024);
  CHECK(server.command({"HVALS", "work:quarantined"}).find("longer than 16 MiB") !=
        std::string::npos);
  CHECK(locks(server) == 2);
  CHECK(server.command({"EVAL",
                        "local name = 'work:lock:1:' .. string.rep('x', 23 * 1048576) "
                        "return {redis.call('GETRANGE', name, 0, 10), redis.call('PTTL', name)}",
                        "0"}) == "quarantine:\n-1");
  // An item of the maximum length is claimed. A quarantined item is reported once.
  reply = host.claim(2);
  REQUIRE(reply.claims.size() == 1);
  CHECK(reply.claims[0].item.size() == max_item);
  CHECK(reply.parked.empty());
  host.settle(reply.claims[0]);
  CHECK(host.settled());
  CHECK(drops.count == 0);
  CHECK(server.command({"LLEN", "work:list"}) == "3");
}

TEST_CASE("a list holds no more long items than it can renew locks for") {
  RedisServer server;
  fill(server, 7, max_item - 2);
  loop::Loop loop;
  ListConfig rule = list_rule();
  rule.key_expiry = 10s;  // the bound grows with it: 80 MiB
  Host host(loop, server.url(), rule);
  REQUIRE(claim_all(host, 7) == 5);
  CHECK(host.reported.replies.back().end == ClaimEnd::fleet_full);
  CHECK_FALSE(host.reported.replies.back().detail.empty());
  const int turns = host.reported.turns;
  host.settle(host.reported.claims[0]);
  CHECK(turn_until(loop, [&] { return host.reported.turns > turns; }));
  CHECK(claim_all(host, 7) == 6);
}

TEST_CASE("six settlements of 12 MB are written at once") {
  RedisServer server;
  const std::size_t items = 6;
  fill(server, static_cast<int>(items), 12'000'000);
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  Drops drops(*host.session);
  CHECK(claim_all(host, items) == items);
  for (const Claim& claim : host.reported.claims) host.settle(claim, store::RestFor{true, 60s});
  CHECK(host.settled());
  CHECK(drops.count == 0);
  CHECK(server.command({"LLEN", "work:runs"}) == std::to_string(items));
  CHECK(locks(server) == items);
}

TEST_CASE("a run record that is too long is abandoned, and the lock is released") {
  RedisServer server;
  server.command({"RPUSH", "work:list", "a"});
  loop::Loop loop;
  Host host(loop, server.url(), long_rule());
  const ClaimReply reply = host.claim(1);
  REQUIRE(reply.claims.size() == 1);
  store::Settlement settlement{
      {reply.claims[0], host.rule, Succeeded{}, {}, WallTime(1000), WallTime(2000)},
      store::SetFree{},
      store::FailureCount::keep};
  settlement.end.process = Exited{0};
  settlement.end.complete =
      Complete{'"' + std::string(17 * mebibyte, 'r') + '"', {}, {}, {}, {}, {}};
  host.source.settle(std::move(settlement));
  CHECK(host.settled());
  CHECK(turn_until(loop, [&] { return !host.reported.given_up.empty(); }));
  CHECK(host.reported.given_up == std::vector<RunId>{reply.claims[0].run});
  CHECK(locks(server) == 0);
  CHECK(server.command({"LLEN", "work:runs"}) == "0");
}

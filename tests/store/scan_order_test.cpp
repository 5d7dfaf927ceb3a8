// Scans of a whole list: which items they move, and how much they read.
#include <doctest/doctest.h>

#include <set>

#include "core/circular_settings.hpp"
#include "store/host.hpp"

using namespace w8y;
using namespace w8y::test;

TEST_CASE("a scan that finds a free item in the middle keeps the order of the list") {
  RedisServer server;
  std::vector<std::string> push{"RPUSH", "work:list"};
  for (int i = 0; i < 3000; ++i) {
    push.push_back(std::to_string(i));
    const std::string time = std::to_string(60'000 + 250 * i);
    server.command({"SET", "work:lock:" + push.back(), "delay:cooldown", "PX", time});
  }
  server.command(push);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  for (const std::string item : {"300", "1500", "2990"}) {
    server.command({"DEL", "work:lock:" + item});
    CHECK(items_of(host.claim(1)) == std::vector<Item>{item});
    CHECK(server.command({"LINDEX", "work:list", "0"}) == "0");
    CHECK(server.command({"LINDEX", "work:list", item}) == item);
  }
}

TEST_CASE("each free item is claimed behind locked items of any kind") {
  RedisServer server;
  constexpr int locked = 400, all = 1000;
  std::vector<std::string> push{"RPUSH", "work:list"};
  for (int i = 0; i < all; ++i) push.push_back("item-" + std::to_string(i));
  const auto lock = [&](int i, const std::string& value, const std::string& ms) {
    std::vector<std::string> words{"SET", "work:lock:item-" + std::to_string(i), value};
    if (!ms.empty()) words.insert(words.end(), {"PX", ms});
    server.command(words);
  };
  SUBCASE("quarantined and delayed") {
    for (int i = 0; i < locked; ++i)
      i % 2 == 0 ? lock(i, "quarantine:x", "") : lock(i, "delay:backoff", "3600000");
  }
  SUBCASE("delays that differ") {
    for (int i = 0; i < locked; ++i)
      lock(i, "delay:backoff", std::to_string(1'200'000 * (1 + i % 3)));
  }
  SUBCASE("quarantined, and items are long") {
    for (std::size_t i = 2; i < push.size(); ++i) push[i].resize(5000, '.');
    for (int i = 0; i < locked; ++i)
      server.command({"SET", "work:lock:" + push[static_cast<std::size_t>(i) + 2], "quarantine:x"});
  }
  SUBCASE("a run, and delays") {
    lock(0, "run:h:1:r", "10000");
    for (int i = 1; i < locked; ++i) lock(i, "delay:backoff", "3600000");
  }
  std::size_t least = all - locked;
  SUBCASE("nearly all are delayed") {
    for (int i = 0; i < 950; ++i) lock(i, "delay:backoff", std::to_string(60'000 + i));
    least = 50;
  }
  SUBCASE("nearly all are delayed, and the order of the list is that of their delays") {
    for (int i = 0; i < 950; ++i) lock(i, "delay:backoff", std::to_string(60'000 * (i + 1)));
    least = 40;  // of 50, since the scan starts at random items
  }
  server.command(push);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  std::set<Item> claimed;
  for (int i = 0; i < all; ++i) {
    const ClaimReply reply = host.claim(1);
    REQUIRE(reply.claims.size() == 1);
    claimed.insert(reply.claims[0].item);
    host.settle(reply.claims[0]);
  }
  CHECK(claimed.size() >= least);
}

TEST_CASE("a scan from the right end reads at most a MiB in a call, and skips no item") {
  RedisServer server;
  std::vector<std::string> push{"RPUSH", "work:list"};
  for (int i = 0; i < 1000; ++i) {
    push.push_back("item-" + std::to_string(i));
    const std::string time = std::to_string(5'000 + 250 * i);
    server.command({"SET", "work:lock:" + push.back(), "delay:cooldown", "PX", time});
  }
  // The item before them cannot run, since it is too long.
  push.emplace_back(std::size_t{17} << 20, 'x');
  for (char item = 'A'; item < 'A' + 40; ++item) push.emplace_back(std::size_t{100} << 10, item);
  server.command(push);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  std::set<Item> claimed;
  for (int i = 0; i < 20 && claimed.size() < 40; ++i) {
    const ClaimReply reply = host.claim(40);
    std::size_t bytes = 0;
    for (const Claim& claim : reply.claims) {
      bytes += claim.item.size();
      claimed.insert(claim.item);
    }
    CHECK(bytes <= std::size_t{1200} << 10);
  }
  CHECK(claimed.size() == 40);
  CHECK(server.command({"LINDEX", "work:list", "0"}) == "item-0");
}

TEST_CASE("a scan ends in a list with single long items") {
  RedisServer server;
  std::vector<std::string> push{"RPUSH", "work:list"};
  for (int i = 0; i < 3000; ++i) {
    const bool is_long = i == 0 || i == 1000 || i == 2000 || i == 2999;
    push.push_back(std::to_string(i) + std::string(is_long ? std::size_t{1} << 20 : 1, '.'));
    const std::string time = std::to_string(5'000 + 250 * i);
    server.command({"SET", "work:lock:" + push.back(), "delay:cooldown", "PX", time});
  }
  server.command(push);
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  const ClaimReply reply = host.claim(1);
  CHECK(reply.end == ClaimEnd::nothing_free);
  CHECK(reply.whole);
  CHECK(reply.calls < 300);
  CHECK(server.command({"LINDEX", "work:list", "1"}) == "1.");
  server.command({"DEL", "work:lock:1500."});
  CHECK(items_of(host.claim(1)) == std::vector<Item>{"1500."});
}

TEST_CASE("a scan moves long locked items, so that the next claim does not read them again") {
  RedisServer server;
  for (char item = 'a'; item <= 'l'; ++item) {
    server.command({"RPUSH", "work:list", std::string(std::size_t{600} << 10, item)});
    if (item <= 'h')
      server.command({"SET", "work:lock:" + std::string(std::size_t{600} << 10, item), "x"});
  }
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  CHECK(host.claim(1).claims.at(0).item.front() == 'i');
  CHECK(server.command({"LINDEX", "work:list", "0"}).front() == 'j');
  CHECK(server.command({"LINDEX", "work:list", "3"}).front() == 'a');
  const auto before = host.session->client.commands_sent();
  CHECK(host.claim(1).claims.at(0).item.front() == 'j');
  CHECK(host.session->client.commands_sent() - before == 1);
}

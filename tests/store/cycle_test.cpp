// List statistics: items by state, cycle time and longest wait.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "host.hpp"
#include "store/circular/script_locks.hpp"

using namespace w8y;
using namespace w8y::test;

namespace visits_test {
namespace {

std::vector<store::ListCounts> measured(Host& host, const std::vector<std::string>& prefixes) {
  store::ListStatsCall call;
  for (const std::string& prefix : prefixes)
    call.lists.emplace_back(prefix.empty() ? "" : prefix + ":");
  std::vector<store::ListCounts> lists;
  bool answered = false;
  host.session->circular.locks.measure(
      call, [&](const store::ListStatsResult* result, const store::StoreError&) {
        answered = true;
        if (result != nullptr) lists = result->lists;
      });
  CHECK(turn_until(host.loop, [&] { return answered; }));
  return lists;
}

store::ListCounts measured(Host& host) {
  const auto lists = measured(host, {"work"});
  REQUIRE(lists.size() == 1);
  return lists.front();
}

void fill(const RedisServer& server, const std::string& list, int items) {
  server.command({"EVAL", "for i = 1, ARGV[1] do redis.call('RPUSH', KEYS[1], 'item-' .. i) end",
                  "1", list, std::to_string(items)});
}

}  // namespace

TEST_CASE("list statistics count items by state") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  CHECK(measured(host).length == 0);
  fill(server, "work:list", 10);
  server.command({"SET", "work:lock:item-1", "run:h:1:r", "PX", "60000"});
  server.command({"SET", "work:lock:item-2", "anybody's"});
  server.command({"SET", "work:lock:item-3", "delay:backoff", "PX", "60000"});
  server.command({"SET", "work:lock:item-4", "quarantine:manual"});
  server.command({"HSET", "work:quarantined", "item-4", "{}"});
  const store::ListCounts found = measured(host);
  CHECK(found.length == 10);
  CHECK(found.quarantined == 1);
  CHECK(found.running == 2);
  CHECK(found.resting == 1);
  CHECK(found.free == 6);
  CHECK_FALSE(found.estimated);
  CHECK_FALSE(found.lap);
  CHECK(server.command({"PTTL", "work:samples"}) != "-1");
}

TEST_CASE("the cycle time is the median time between two runs of an item") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  fill(server, "work:list", 3);
  measured(host);
  const auto claim_all = [&] {
    for (const Claim& claim : host.claim(3).claims) host.settle(claim);
    CHECK(host.settled());
  };
  claim_all();
  CHECK_FALSE(measured(host).lap);
  turn_for(loop, 30ms);
  claim_all();
  const store::ListCounts found = measured(host);
  REQUIRE(found.lap);
  CHECK(*found.lap >= 30ms);
  REQUIRE(found.oldest);
  CHECK(*found.oldest < *found.lap + 10s);
}

TEST_CASE("the longest wait ignores items that are running, delayed or removed") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  fill(server, "work:list", 4);
  const auto note = [&](const std::string& item, const std::string& text) {
    server.command({"HSET", "work:samples", item, text});
  };
  note("item-1", "1000000000000 5000 0");  // 2001: a long time ago
  note("item-2", "1000000000000 7000 0");
  note("item-3", "1000000000000 9000 0");
  note("gone", "1 100000 0");
  note("item-4", "no note of ours");
  server.command({"SET", "work:lock:item-1", "run:h:1:r", "PX", "60000"});
  server.command({"SET", "work:lock:item-2", "delay:cooldown", "PX", "60000"});
  store::ListCounts found = measured(host);
  REQUIRE(found.oldest);
  CHECK(*found.oldest > 24h);
  found = measured(host);
  CHECK(found.lap == WallTime(7000));
  CHECK(server.command({"HEXISTS", "work:samples", "gone"}) == "0");
  // The item has waited since its delay ended, not since it was claimed.
  server.command({"DEL", "work:lock:item-2"});
  server.command({"LREM", "work:list", "0", "item-3"});
  found = measured(host);
  REQUIRE(found.oldest);
  CHECK(*found.oldest < 1h);
}

TEST_CASE("statistics of a long list are estimates and cost no more than for a short list") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  fill(server, "work:list", 50'000);
  server.command(
      {"EVAL",
       "for i = 1, 25000 do redis.call('SET', 'work:lock:item-' .. i, 'delay:cooldown') end", "0"});
  server.command({"HSET", "work:quarantined", "item-1", "{}"});
  server.command({"SET", "work:lock:item-50000", "run:h:1:r"});
  const store::ListCounts found = measured(host);
  CHECK(found.estimated);
  CHECK(found.length == 50'000);
  CHECK(found.quarantined == 1);
  CHECK(found.running == 1);
  CHECK(found.resting > 20'000);
  CHECK(found.resting < 30'000);
  CHECK(found.free + found.running + found.resting + found.quarantined == 50'000);
  CHECK(server.command({"HLEN", "work:samples"}) == "64");
  // The number of items that the script reads does not depend on the length of the list.
  server.command({"CONFIG", "RESETSTAT"});
  measured(host);
  const std::string stats = server.command({"INFO", "commandstats"});
  const auto calls = [&](const std::string& command) {
    const auto at = stats.find("cmdstat_" + command + ":calls=");
    return at == std::string::npos ? 0 : std::stoi(stats.substr(stats.find('=', at) + 1));
  };
  CHECK(calls("getrange") <= 350);
  CHECK(calls("exists") <= 40);
  CHECK(calls("lrange") <= 20);
  server.command({"FLUSHALL"});
  fill(server, "work:list", 50'000);
  measured(host);
  server.command({"CONFIG", "RESETSTAT"});
  CHECK(measured(host).free == 50'000);
  const std::string of_free = server.command({"INFO", "commandstats"});
  CHECK(of_free.find("cmdstat_getrange") == std::string::npos);
  CHECK(of_free.find("cmdstat_exists:calls=3,") != std::string::npos);
}

TEST_CASE("lists share a call, and unreadable keys of one list do not affect other lists") {
  RedisServer server;
  loop::Loop loop;
  Host host(loop, server.url(), list_rule());
  server.command({"SET", "a:list", "no list"});
  fill(server, "b:list", 2);
  server.command({"SET", "b:samples", "no hash"});
  server.command({"SET", "b:quarantined", "no hash"});
  fill(server, "work:list", 3);
  const auto lists = measured(host, {"a", "b", "work"});
  REQUIRE(lists.size() == 3);
  CHECK(lists[0].length == 0);
  CHECK(lists[1].length == 2);
  CHECK(lists[1].free == 2);
  CHECK_FALSE(lists[1].oldest);
  CHECK(lists[2].free == 3);
  CHECK(server.command({"GET", "b:samples"}) == "no hash");
  // One call does not measure several long lists: it ends when it has read enough items.
  fill(server, "c:list", 500);
  fill(server, "d:list", 500);
  fill(server, "e:list", 500);
  CHECK(measured(host, {"c", "d", "e"}).size() < 3);
}

}  // namespace visits_test

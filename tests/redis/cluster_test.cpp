#include "support/cluster.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "fixture.hpp"
#include "redis/cluster_client.hpp"
#include "redis/hash_slots.hpp"
#include "redis/script.hpp"
#include "redis/subscriber.hpp"
#include "support/sentinels.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::Client;
using redis::ClusterClient;

namespace cluster_test {
namespace {

const redis::Script append{
    "append", "redis.call('APPEND', KEYS[1], ARGV[1]) return {ARGV[2], redis.call('GET', KEYS[1])}",
    "e5bd9ba5804f5a827669159b67283a05d44da0e0"};

std::string run(loop::Loop& loop, Client& client, const redis::Script& script,
                const redis::Command& keys, const redis::Command& args) {
  Answers answers;
  client.run(script, keys, args, answers.callback());
  turn_until(loop, [&] { return !answers.all.empty(); });
  return answers.all.empty() ? "(unanswered)" : answers.all.front();
}

long long ms(Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

TEST_CASE("a cluster that cannot be reached is a connection error, not an exception") {
  loop::Loop loop;
  const std::string port = std::to_string(free_port());
  const std::string url = "redis+cluster://127.0.0.1:" + port;
  ClusterClient client(loop, options_for(url));
  Ups ups(client);
  Answers answers;
  client.call({"GET", "k"}, answers.callback());
  CHECK(answers.all.empty());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 1; }));
  CHECK(has(answers.all[0], "not_sent: " + url));
  CHECK(has(client.error(), "refused"));
  CHECK(has(call(loop, client, {"GET", "k"}), "not_sent"));
  turn_for(loop, 300ms);
  CHECK(ups.downs.size() == 1);

  RedisServer plain({.tcp = true});
  ClusterClient other(loop,
                      options_for("redis+cluster://127.0.0.1:" + std::to_string(plain.port())));
  CHECK(has(call(loop, other, {"GET", "k"}), "cluster support disabled"));
}

TEST_CASE("cluster: each command is sent to the node of its key") {
  Cluster cluster;
  loop::Loop loop;
  ClusterClient client(loop, options_for(cluster.url()));
  Ups ups(client);

  // Called before the hash slots are known.
  Answers early;
  for (const char* key : {"a", "b", "c"}) client.call({"SET", key, key}, early.callback());
  CHECK(turn_until(loop, [&] { return early.all.size() == 3; }));
  CHECK(early.all == std::vector<std::string>{"OK", "OK", "OK"});
  CHECK(turn_until(loop, [&] { return ups.ups == 1; }));
  CHECK(client.connected());
  CHECK(client.error().empty());
  for (const char* key : {"a", "b", "c"}) {
    CHECK(std::to_string(redis::slot_of(key)) == cluster.slot_of(key));
    CHECK(cluster.nodes[cluster.owner_of(key)]->command({"GET", key}) == key);
    CHECK(call(loop, client, {"GET", key}) == key);
  }
  CHECK(client.commands_sent() >= 6);

  // Scripts, commands without keys, and errors of the caller.
  CHECK(run(loop, client, append, {"{s}k"}, {"x"}) == "x");
  CHECK(run(loop, client, append, {"{s}k"}, {"y"}) == "xy");
  CHECK(call(loop, client, {"PING"}) == "PONG");
  CHECK(has(call(loop, client, {"INFO", "server"}), "redis_mode:cluster"));
  CHECK(has(call(loop, client, {"MGET", "a", "b"}), "CROSSSLOT"));
  CHECK(call(loop, client, {"EVAL", "return 7", "0"}) == "7");

  // Transactions are sent to one node as a whole, with their WATCH commands.
  redis::SyncClient sync(loop, options_for(cluster.url()));
  const auto replies = sync.pipeline({{"MULTI"},
                                      {"SET", "{t}1", "1"},
                                      {"SET", "{t}2", "2"},
                                      {"EXEC"},
                                      {"GET", "a"},
                                      {"GET", "b"},
                                      {"GET", "{t}2"}});
  CHECK(replies.at(3).elements.size() == 2);
  CHECK(replies.at(4).text == "a");
  CHECK(replies.at(5).text == "b");
  CHECK(replies.at(6).text == "2");

  // A subscriber receives messages published at any node.
  redis::Subscriber subscriber(loop, options_for(cluster.url({2, 1})));
  std::vector<std::string> heard;
  const auto channel = subscriber.subscribe(
      "news", [&](std::string_view, std::string_view text) { heard.emplace_back(text); });
  CHECK(turn_until(loop, [&] { return subscriber.connected(); }));
  for (const auto& node : cluster.nodes) node->command({"PUBLISH", "news", "x"});
  client.call({"PUBLISH", "news", "y"});
  CHECK(turn_until(loop, [&] { return heard.size() == 4; }));

  CHECK(ups.ups == 1);
  CHECK(ups.downs.empty());
}

TEST_CASE("cluster: a moving hash slot with ASK, TRYAGAIN and MOVED causes no error") {
  Cluster cluster;
  loop::Loop loop;
  ClusterClient client(loop, options_for(cluster.url()));
  Ups ups(client);
  CHECK(call(loop, client, {"SET", "{m}1", "1"}) == "OK");
  CHECK(call(loop, client, {"SET", "{m}2", "2"}) == "OK");
  const std::size_t from = cluster.owner_of("{m}1");
  const std::size_t to = (from + 1) % 3;
  const std::string slot = cluster.slot_of("{m}1");

  cluster.start_move(slot, from, to);
  CHECK(call(loop, client, {"GET", "{m}1"}) == "1");
  CHECK(call(loop, client, {"SET", "{m}new", "n"}) == "OK");  // no longer at this node: ASK
  CHECK(cluster.nodes[from]->command({"CLUSTER", "COUNTKEYSINSLOT", slot}) == "2");
  cluster.move_key("{m}1", from, to);
  CHECK(call(loop, client, {"GET", "{m}1"}) == "1");  // at the new node
  CHECK(call(loop, client, {"GET", "{m}2"}) == "2");  // at the old node
  CHECK(run(loop, client, append, {"{m}1"}, {"x"}) == "1x");
  CHECK(run(loop, client, append, {"{m}1"}, {"y"}) == "1xy");
  // One of the keys has moved already, and the other has not.
  Answers both;
  client.call({"MGET", "{m}1", "{m}2"}, both.callback());
  client.call({"SET", "{m}2", "later"}, both.callback());
  turn_for(loop, 150ms);
  cluster.move_key("{m}2", from, to);
  CHECK(turn_until(loop, [&] { return both.all.size() == 2; }));
  CHECK_FALSE(has(both.all.front(), "TRYAGAIN"));
  cluster.end_move(slot, from, to);
  CHECK(call(loop, client, {"GET", "{m}2"}) == "later");
  CHECK(cluster.owner_of("{m}1") == to);

  // Moves the hash slot back at once: calls in flight keep their order.
  Answers answers;
  std::string expected;
  for (int round = 0; round < 20; ++round) {
    if (round == 5) cluster.start_move(slot, to, from);
    if (round == 10)
      for (const char* key : {"{m}1", "{m}2", "{m}new", "{m}log"}) cluster.move_key(key, to, from);
    if (round == 15) cluster.end_move(slot, to, from);
    for (int i = 0; i < 5; ++i) {
      const std::string digit(1, static_cast<char>('a' + round));
      client.call({"APPEND", "{m}log", digit}, answers.callback());
      expected += digit;
    }
    loop.iterate(false);
  }
  CHECK(turn_until(loop, [&] { return answers.all.size() == 100; }));
  CHECK(call(loop, client, {"GET", "{m}log"}) == expected);
  CHECK(ups.ups == 1);
  CHECK(ups.downs.empty());
}

TEST_CASE("cluster: keys that move for longer than command_timeout are an error for the caller") {
  Cluster cluster;
  loop::Loop loop;
  auto options = options_for(cluster.url());
  options.command_timeout = 300ms;
  ClusterClient client(loop, options);
  CHECK(call(loop, client, {"MSET", "{m}1", "1", "{m}2", "2"}) == "OK");
  const std::size_t from = cluster.owner_of("{m}1");
  const std::size_t to = (from + 1) % 3;
  cluster.start_move(cluster.slot_of("{m}1"), from, to);
  cluster.move_key("{m}1", from, to);
  const Instant asked = loop.now();
  CHECK(has(call(loop, client, {"MGET", "{m}1", "{m}2"}), "TRYAGAIN"));
  CHECK(ms(loop.now() - asked) >= 250);
  CHECK(ms(loop.now() - asked) < 10'000);
  CHECK(client.connected());
}

TEST_CASE("cluster: a dead primary is replaced, and other nodes are used meanwhile") {
  Cluster cluster({.replicas = true});
  loop::Loop loop;
  ClusterClient client(loop, options_for(cluster.url({0})));
  Ups ups(client);
  redis::Subscriber subscriber(loop, options_for(cluster.url({0})));
  int heard = 0;
  const auto channel =
      subscriber.subscribe("c", [&](std::string_view, std::string_view) { ++heard; });
  // One key for each third of the hash slots.
  std::vector<std::string> keys(3);
  for (int i = 0; keys[0].empty() || keys[1].empty() || keys[2].empty(); ++i)
    keys[redis::slot_of("k" + std::to_string(i)) / 5462U] = "k" + std::to_string(i);
  for (const auto& key : keys) CHECK(call(loop, client, {"SET", key, "1"}) == "OK");
  wait_until("the write at the replica",
             [&] { return cluster.nodes[3]->command({"DBSIZE"}) == "1"; });
  CHECK(turn_until(loop, [&] { return ups.ups == 1 && subscriber.connected(); }));

  cluster.nodes[0]->kill();
  const Instant killed = loop.now();
  CHECK(turn_until(loop, [&] { return !ups.downs.empty(); }));
  CHECK_FALSE(client.connected());
  CHECK(has(call(loop, client, {"GET", keys[0]}), "not_sent"));
  CHECK(has(call(loop, client, {"INFO", "server"}), "redis_mode:cluster"));  // any healthy node
  CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
  const auto away = ms(loop.now() - killed);
  CHECK(away < 30'000);
  // The other two nodes return CLUSTERDOWN until they have learned of the new primary.
  for (const auto& key : keys)
    CHECK(turn_until(loop, [&] { return call(loop, client, {"GET", key}) == "1"; }));
  CHECK(turn_until(loop, [&] {
    client.call({"PUBLISH", "c", "hello"});
    turn_for(loop, 20ms);
    return heard > 0;
  }));
  MESSAGE("time without: " << away << " ms; " << ups.downs.size()
                           << " reasons, first: " << ups.downs.front());
  CHECK(ups.ups == 2);

  // All nodes stop and start again.
  for (const auto& node : cluster.nodes) node->kill();
  CHECK(turn_until(loop, [&] { return !client.connected(); }));
  for (const auto& node : cluster.nodes) node->start();
  CHECK(turn_until(loop, [&] { return ups.ups == 3; }));
  CHECK(call(loop, client, {"SET", keys[1], "2"}) == "OK");
}

TEST_CASE("cluster: a password is sent to each node, and a cluster that starts later is found") {
  Cluster cluster({.password = "secret"});
  loop::Loop loop;
  auto options = options_for(cluster.url());
  ClusterClient locked_out(loop, options);
  CHECK(has(call(loop, locked_out, {"GET", "k"}), "NOAUTH"));
  options.url.password = "secret";
  ClusterClient client(loop, options);
  CHECK(call(loop, client, {"SET", "k", "1"}) == "OK");

  // A hash slot that no node serves.
  const std::size_t owner = cluster.owner_of("k");
  Ups ups(client);
  cluster.nodes[owner]->command({"CLUSTER", "DELSLOTS", cluster.slot_of("k")});
  CHECK(has(call(loop, client, {"GET", "k"}), "CLUSTERDOWN"));
  CHECK(turn_until(loop, [&] { return !ups.downs.empty(); }));
  turn_for(loop, 300ms);
  CHECK(ups.ups == 0);
  cluster.nodes[owner]->command({"CLUSTER", "ADDSLOTS", cluster.slot_of("k")});
  CHECK(turn_until(loop, [&] { return ups.ups == 1; }));
  CHECK(has(call(loop, client, {"SET", "k", "1"}), "OK"));
}

}  // namespace cluster_test

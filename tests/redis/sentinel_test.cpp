#include "redis/sentinel.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "fixture.hpp"
#include "redis/server_client.hpp"
#include "redis/subscriber.hpp"
#include "support/sentinels.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::Client;
using redis::ServerClient;

namespace sentinel_test {
namespace {

bool is_at(loop::Loop& loop, Client& client, const RedisServer& server) {
  return has(call(loop, client, {"INFO", "server"}),
             "\ntcp_port:" + std::to_string(server.port()) + "\r");
}

/// Repeats a SET until it succeeds. Returns whether it did.
bool writes_again(loop::Loop& loop, Client& client) {
  std::string answer;
  return turn_until(loop, [&] {
    if (answer != "OK") answer = call(loop, client, {"SET", "k", "1"});
    if (answer != "OK") turn_for(loop, 20ms);
    return answer == "OK";
  });
}

/// Returns the number of connections that are subscribed at a sentinel.
std::size_t watchers(const Sentinels& world) {
  std::size_t count = 0;
  for (const auto& sentinel : world.sentinels) {
    const std::string clients = sentinel->command({"CLIENT", "LIST", "TYPE", "pubsub"});
    for (auto at = clients.find(" sub=1 "); at != clients.npos;
         at = clients.find(" sub=1 ", at + 1))
      ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("sentinels that cannot be reached are a connection error, not an exception") {
  loop::Loop loop;
  const std::string port = std::to_string(free_port());
  const std::string url = "redis+sentinel://127.0.0.1:" + port + ",localhost:" + port + "/x";
  ServerClient client(loop, options_for(url));
  const std::string answer = call(loop, client, {"PING"});
  CHECK(has(answer, "not_sent: redis+sentinel://127.0.0.1:" + port));
  CHECK(has(answer, "no Sentinel can be queried: redis://localhost:" + port));
  CHECK(has(client.error(), "no Sentinel can be queried"));

  RedisServer plain({.tcp = true});  // a server that is not a sentinel
  ServerClient other(
      loop, options_for("redis+sentinel://127.0.0.1:" + std::to_string(plain.port()) + "/x"));
  CHECK(has(call(loop, other, {"PING"}), "unknown command"));
}

TEST_CASE("sentinels: a client follows the primary, even after sentinels have died") {
  Sentinels world;
  loop::Loop loop;

  ServerClient wrong(loop, options_for(world.url().substr(0, world.url().rfind('/')) + "/nosuch"));
  CHECK(has(call(loop, wrong, {"PING"}), "no Sentinel monitors the service 'nosuch'"));

  ServerClient client(loop, options_for(world.url({2})));  // it discovers the others
  Ups ups(client);
  redis::Subscriber subscriber(loop, options_for(world.url({2})));
  std::vector<std::string> heard;
  const auto channel = subscriber.subscribe(
      "c", [&](std::string_view, std::string_view text) { heard.emplace_back(text); });
  CHECK(call(loop, client, {"SET", "k", "0"}) == "OK");
  RedisServer& first = world.primary();
  CHECK(is_at(loop, client, first));
  CHECK(turn_until(loop, [&] { return subscriber.connected(); }));

  SUBCASE("the primary is killed, after the sentinel of the URL") {
    CHECK(turn_until(loop, [&] { return watchers(world) >= 2; }));  // client and subscriber
    world.sentinels[2]->kill();
    first.kill();
  }
  SUBCASE("the primary is paused: its connection remains open, and only sentinels report it") {
    first.pause();
  }
  SUBCASE("a sentinel is requested to fail over") {
    CHECK(world.sentinels[0]->command({"SENTINEL", "FAILOVER", "mymaster"}) == "OK");
  }
  const Instant began = loop.now();
  CHECK(turn_until(loop, [&] { return ups.ups == 2 && subscriber.connected(); }));
  CHECK(loop.now() - began < 30s);
  CHECK(writes_again(loop, client));
  RedisServer& second = world.primary();
  CHECK(&second != &first);
  CHECK(is_at(loop, client, second));
  CHECK(turn_until(loop, [&] {
    if (subscriber.connected()) client.call({"PUBLISH", "c", "hello"});
    turn_for(loop, 20ms);
    return !heard.empty();
  }));
  MESSAGE("time without: "
          << std::chrono::duration_cast<std::chrono::milliseconds>(loop.now() - began).count()
          << " ms; " << ups.downs.size() << " reasons");
}

TEST_CASE("sentinels and servers may have separate passwords") {
  TempDir dir;
  Sentinels world({.password = "data", .sentinel_password = "guard"});
  loop::Loop loop;
  auto options = options_for(world.url());
  options.url.password = "data";
  ServerClient locked_out(loop, options);
  CHECK(has(call(loop, locked_out, {"PING"}), "NOAUTH"));

  std::ofstream(dir / "sentinels") << "guard\n";
  options.sentinel_password_file = dir / "sentinels";
  ServerClient client(loop, options);
  CHECK(call(loop, client, {"SET", "k", "1"}) == "OK");
  options.url.password = "wrong";
  ServerClient wrong(loop, options);
  CHECK(has(call(loop, wrong, {"PING"}), "WRONGPASS"));
}

}  // namespace sentinel_test

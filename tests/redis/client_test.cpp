#include "redis/client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixture.hpp"
#include "redis/script.hpp"
#include "redis/server_client.hpp"
#include "redis/server_info.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::Client;
using redis::ServerClient;

namespace client_test {
namespace {

/// Returns how often the server has read data, without the reads of this function: one for the
/// query and one for the end of its connection.
long long reads(const RedisServer& server) {
  static long long asked = 0;
  return server.info("total_reads_processed") - 2 * asked++;
}

}  // namespace

TEST_CASE("calls made before the connection exists wait for it and get their replies in order") {
  RedisServer server({.tcp = true});
  for (const std::string& url : {server.url(), server.tcp_url(), server.tcp_url() + "/3",
                                 "redis://localhost:" + std::to_string(server.port())}) {
    INFO(url);
    loop::Loop loop;
    ServerClient client(loop, options_for(url));
    Answers answers;
    client.call({"SET", "k", "v"}, answers.callback());
    client.call({"GET", "k"}, answers.callback());
    client.call({"DEL", "k"}, answers.callback());
    client.call({"GET", "k"}, answers.callback());
    client.call({"NOSUCH"}, answers.callback());
    CHECK(answers.all.empty());
    CHECK_FALSE(client.connected());
    CHECK(turn_until(loop, [&] { return answers.all.size() == 5; }));
    answers.all.back().resize(3);
    CHECK(answers.all == std::vector<std::string>{"OK", "v", "1", "(nil)", "ERR"});
    CHECK(client.connected());
    CHECK(client.error().empty());
    CHECK(client.commands_sent() == 5);
  }
}

TEST_CASE("all calls of one loop iteration are sent in one write") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  CHECK(call(loop, client, {"PING"}) == "PONG");
  const long long before = reads(server);
  Answers answers;
  for (int i = 0; i < 300; ++i) client.call({"INCR", "n"}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 300; }));
  CHECK(answers.all.back() == "300");
  CHECK(reads(server) - before == 1);
}

TEST_CASE("calls before the first connection are sent together with the handshake") {
  RedisServer server;
  const long long before = reads(server);
  loop::Loop loop;
  auto options = options_for(server.url());
  options.name = "w8y test";
  ServerClient client(loop, options);
  CHECK(call(loop, client, {"CLIENT", "GETNAME"}) == "w8y_test");
  CHECK(reads(server) - before == 1);
}

TEST_CASE("values may be any bytes, and large values pass in both directions") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes += static_cast<char>(i);
  CHECK(call(loop, client, {"SET", all_bytes, all_bytes}) == "OK");
  CHECK(call(loop, client, {"GET", all_bytes}) == all_bytes);
  CHECK(call(loop, client, {"SET", "", ""}) == "OK");
  CHECK(call(loop, client, {"GET", ""}).empty());

  std::string big(8U << 20, 'x');
  for (std::size_t i = 0; i < big.size(); i += 4093) big[i] = static_cast<char>(i);
  CHECK(call(loop, client, {"SET", "big", big}) == "OK");
  CHECK(call(loop, client, {"GET", "big"}) == big);
}

TEST_CASE("a command that is too large fails, and the connection remains") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  CHECK(call(loop, client, {"PING"}) == "PONG");
  const std::string large(std::size_t{65} << 20, 'x');
  std::vector<std::pair<redis::Failure, std::string>> told;
  const auto note = [&](const redis::Answer& answer) {
    told.emplace_back(answer.failure, answer.problem());
  };
  client.call({"SET", "k", large}, note);
  const redis::Script script{"any", "return 1", "0000000000000000000000000000000000000000"};
  client.run(script, {"k"}, {large}, note);
  CHECK(told.empty());  // never from inside the call
  Answers answers;
  client.call({"PING"}, answers.callback());
  CHECK(turn_until(loop, [&] { return told.size() == 2 && answers.all.size() == 1; }));
  for (const auto& [failure, why] : told) {
    CHECK(failure == redis::Failure::too_large);
    CHECK(why == "a command of 65 MiB: the limit is 64 MiB");
  }
  CHECK(client.connected());
  CHECK(server.command({"EXISTS", "k"}) == "0");
}

TEST_CASE("a reply that is too large fails its own call with that error, and later calls as lost") {
  RedisServer server;
  loop::Loop loop;
  auto options = options_for(server.url());
  options.command_timeout = 60s;  // this much data takes time, especially with sanitizers
  ServerClient client(loop, options);
  server.command({"SETRANGE", "k", std::to_string(130 << 20), "x"});
  CHECK(call(loop, client, {"PING"}) == "PONG");
  std::vector<redis::Failure> told;
  const auto note = [&](const redis::Answer& answer) { told.push_back(answer.failure); };
  for (const char* key : {"other", "k", "other"}) client.call({"GET", key}, note);
  CHECK(turn_until(loop, [&] { return told.size() == 3; }));
  CHECK(told ==
        std::vector{redis::Failure::none, redis::Failure::reply_too_large, redis::Failure::lost});
  CHECK(turn_until(loop, [&] { return client.connected(); }));
}

TEST_CASE("100,000 calls in one loop iteration, short and longer ones, all get their replies") {
  RedisServer server;
  loop::Loop loop;
  auto options = options_for(server.url());
  options.command_timeout = 60s;  // this much data takes time, especially with sanitizers
  ServerClient client(loop, options);
  int wrong = 0;
  int answered = 0;
  const std::string value(300, 'v');
  for (int i = 0; i < 100'000; ++i)
    client.call({"ECHO", i % 2 == 0 ? "e" : value}, [&, i](const redis::Answer& answer) {
      if (answer.reply.text().size() != (i % 2 == 0 ? 1 : 300)) ++wrong;
      ++answered;
    });
  CHECK(turn_until(loop, [&] { return answered == 100'000; }));
  CHECK(wrong == 0);
}

TEST_CASE("a callback may make another call, and callbacks may be omitted") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  int left = 100;
  std::function<void(const redis::Answer&)> again = [&](const redis::Answer& answer) {
    CHECK(answer.ok());
    client.call({"INCR", "silent"});
    if (--left > 0) client.call({"INCR", "n"}, again);
  };
  client.call({"INCR", "n"}, again);
  CHECK(turn_until(loop, [&] { return left == 0; }));
  CHECK(call(loop, client, {"GET", "n"}) == "100");
  CHECK(call(loop, client, {"GET", "silent"}) == "100");
}

TEST_CASE("MULTI and EXEC are ordinary calls") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  std::string counted;
  client.call({"MULTI"});
  client.call({"INCR", "a"});
  client.call({"INCRBY", "a", "10"});
  client.call({"EXEC"}, [&](const redis::Answer& answer) {
    CHECK(answer.reply.is_array());
    for (std::size_t i = 0; i < answer.reply.size(); ++i)
      counted += std::to_string(answer.reply[i].integer()) + " ";
  });
  CHECK(turn_until(loop, [&] { return !counted.empty(); }));
  CHECK(counted == "1 11 ");
}

TEST_CASE("destroying the client calls no callbacks") {
  RedisServer server;
  loop::Loop loop;
  Answers answers;
  auto client = std::make_unique<ServerClient>(loop, options_for(server.url()));
  client->call({"PING"}, answers.callback());
  client.reset();
  turn_for(loop, 20ms);
  client = std::make_unique<ServerClient>(loop, options_for(server.url()));
  CHECK(call(loop, *client, {"PING"}) == "PONG");
  server.pause();
  client->call({"PING"}, answers.callback());
  loop.iterate(false);  // written to the socket here
  client.reset();
  server.resume();
  turn_for(loop, 20ms);
  CHECK(answers.all.empty());
}

TEST_CASE("a listener may be added or removed while listeners are notified") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  struct Once : Client::Listener {
    Once(Client& client, std::unique_ptr<Ups>& victim) : Listener(client), victim_(victim) {}
    void on_up() override { victim_.reset(); }
    void on_down(const std::string&) override {}
    std::unique_ptr<Ups>& victim_;
  };
  std::unique_ptr<Ups> victim;
  Once first(client, victim);
  victim = std::make_unique<Ups>(client);
  Ups last(client);
  CHECK(turn_until(loop, [&] { return last.ups == 1; }));
  CHECK(victim == nullptr);
}

TEST_CASE("properties of the server are read from INFO") {
  RedisServer server({.config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  bool asked = false;
  redis::query_server_info(client, [&](const redis::ServerInfo& info, const std::string& problem) {
    asked = true;
    CHECK(problem.empty());
    CHECK(info.major >= 6);
    CHECK(info.mode == "standalone");
    CHECK(info.role == "master");
    CHECK_FALSE(info.append_only);
    CHECK(redis::too_old(info, "here").empty());
    const auto found = redis::weaknesses(info, "here", false);
    REQUIRE(found.size() == 2);
    CHECK(has(found[0], "allkeys-lru"));
    CHECK(has(found[1], "no append-only file"));
  });
  CHECK(turn_until(loop, [&] { return asked; }));
}

TEST_CASE("the guarantee text depends on the properties of the server") {
  const auto says = [](const std::string& more) {
    const auto info = redis::parse_server_info("redis_version:7.0.15\nrole:master\n" + more);
    const std::string sentence = redis::guarantee(info);
    return sentence.substr(std::min(sentence.find(" as long"), sentence.find(" until")));
  };
  CHECK(says("aof_enabled:1\n") == " as long as Redis keeps its keys and its clock");
  CHECK(says("aof_enabled:1\nmaxmemory:1000\nmaxmemory_policy:noeviction\n") ==
        " as long as Redis keeps its keys and its clock");
  CHECK(says("aof_enabled:0\n") ==
        " until Redis crashes (a crash loses all changes since the last snapshot)");
  CHECK(says("maxmemory:1000\nmaxmemory_policy:allkeys-lru\n") ==
        " as long as Redis has memory to spare and until Redis crashes (a crash loses "
        "all changes since the last snapshot)");
}

TEST_CASE("replicas without min-replicas-to-write are a weakness") {
  const auto found = [](const std::string& more, bool sentinel) {
    return redis::weaknesses(
        redis::parse_server_info("redis_version:7.0.15\naof_enabled:1\nrole:master\n" + more), "h",
        sentinel);
  };
  CHECK(found("connected_slaves:0\n", false).empty());
  CHECK(found("connected_slaves:1\nmin_slaves_good_slaves:1\n", true).empty());
  for (const auto& some :
       {found("connected_slaves:1\n", false), found("connected_slaves:0\n", true)}) {
    REQUIRE(some.size() == 1);
    CHECK(has(some[0], "set min-replicas-to-write 1"));
  }
  const auto unknown = redis::weaknesses({}, "h", true);
  REQUIRE(unknown.size() == 1);
  CHECK(has(unknown[0], "grant +info"));
  CHECK(redis::weaknesses({}, "h", false).empty());
}

TEST_CASE("an old server is refused with a clear text") {
  const auto info = redis::parse_server_info(
      "# Server\r\nredis_version:5.0.14\r\nredis_mode:cluster\r\n\r\nrole:slave\r\nbroken");
  CHECK(info.mode == "cluster");
  CHECK(redis::too_old(info, "redis://h:6379") ==
        "Redis 5.0.14 at redis://h:6379 is too old: w8y needs 6.2 or newer (LMOVE)");
  CHECK(redis::weaknesses(info, "h", false).size() == 3);
  for (const char* version : {"6.0.20", "6.1.240", "4"})
    CHECK_FALSE(
        redis::too_old(redis::parse_server_info("redis_version:" + std::string(version)), "h")
            .empty());
  for (const char* version : {"6.2.0", "7.0.15", "8.2", "10.0.0", "255.255.255"})
    CHECK(redis::too_old(redis::parse_server_info("redis_version:" + std::string(version)), "h")
              .empty());
  CHECK(redis::too_old(redis::parse_server_info(""), "h").empty());
}

}  // namespace client_test

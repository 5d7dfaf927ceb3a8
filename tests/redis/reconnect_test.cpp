#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "fixture.hpp"
#include "redis/server_client.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::ServerClient;

TEST_CASE("calls without a server fail as not_sent, and never from inside call()") {
  TempDir dir;
  loop::Loop loop;
  ServerClient client(loop, options_for("unix://" + (dir / "none.sock")));
  Ups ups(client);
  Answers answers;
  client.call({"PING"}, answers.callback());
  client.call({"PING"}, answers.callback());
  CHECK(answers.all.empty());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 2; }));
  CHECK(has(answers.all[0], "not_sent: unix://"));
  CHECK(has(answers.all[0], "No such file"));
  CHECK(has(client.error(), "No such file"));
  CHECK(ups.downs.size() == 1);
  client.call({"PING"}, answers.callback());
  CHECK(answers.all.size() == 2);
  CHECK(turn_until(loop, [&] { return answers.all.size() == 3; }));
  CHECK(has(answers.all[2], "not_sent"));
  turn_for(loop, 300ms);
  CHECK(ups.downs.size() == 1);  // the same reason is reported once
}

TEST_CASE("refused ports and unknown names are connection errors, not exceptions") {
  RedisServer server({.tcp = true});
  const std::string url = server.tcp_url();
  server.kill();
  loop::Loop loop;
  for (const std::string& each : {url, "redis://localhost:" + url.substr(url.rfind(':') + 1),
                                  std::string("redis://[::1]:1")}) {
    INFO(each);
    ServerClient client(loop, options_for(each));
    CHECK(has(call(loop, client, {"PING"}), "cannot connect"));
  }
  auto options = options_for("redis://no-such-host.invalid");
  options.connect_timeout = 500ms;
  ServerClient client(loop, options);
  CHECK(has(call(loop, client, {"PING"}), "not_sent"));
}

TEST_CASE("calls sent before the server is killed are lost, and the client reconnects") {
  RedisServer server({.config = {"appendonly yes", "appendfsync always"}, .tcp = true});
  for (const std::string& url : {server.url(), server.tcp_url()}) {
    INFO(url);
    loop::Loop loop;
    ServerClient client(loop, options_for(url));
    Ups ups(client);
    CHECK(call(loop, client, {"SET", "kept", "1"}) == "OK");
    Answers answers;
    server.pause();
    client.call({"PING"}, answers.callback());
    loop.iterate(false);  // written to the socket here
    server.kill();
    client.call({"PING"}, answers.callback());
    CHECK(turn_until(loop, [&] { return answers.all.size() == 2; }));
    CHECK(has(answers.all[0], "lost: "));
    CHECK_FALSE(client.connected());
    CHECK_FALSE(client.error().empty());
    CHECK(turn_until(loop, [&] { return !ups.downs.empty(); }));
    CHECK(has(call(loop, client, {"PING"}), "not_sent"));

    server.start();
    const Instant back = loop.now();
    CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
    CHECK(loop.now() - back < 10s);  // pauses have a maximum
    CHECK(call(loop, client, {"GET", "kept"}) == "1");
    CHECK(client.error().empty());
  }
}

TEST_CASE("a call not sent before the connection broke fails as not_sent") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  CHECK(call(loop, client, {"PING"}) == "PONG");
  server.pause();
  Answers answers;
  const std::string big(4U << 20, 'x');  // more than a socket buffer holds
  client.call({"SET", "first", "1"}, answers.callback());
  client.call({"SET", "big", big}, answers.callback());
  client.call({"SET", "last", "1"}, answers.callback());
  loop.iterate(false);
  server.kill();
  CHECK(turn_until(loop, [&] { return answers.all.size() == 3; }));
  CHECK(has(answers.all[0], "lost"));
  CHECK(has(answers.all[1], "not_sent"));
  CHECK(has(answers.all[2], "not_sent"));
}

TEST_CASE("reconnect_now does not wait for the end of the pause") {
  RedisServer server;
  server.kill();
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  Ups ups(client);
  turn_for(loop, 1500ms);  // pauses have grown
  server.start();
  const long long before = server.info("total_connections_received");
  client.reconnect_now();
  for (int i = 0; i < 3; ++i) loop.iterate(false);
  CHECK(server.info("total_connections_received") == before + 2);  // client and query
  CHECK(turn_until(loop, [&] { return ups.ups == 1; }));
}

TEST_CASE("a reply slower than command_timeout ends the connection, and the client reconnects") {
  RedisServer server;
  loop::Loop loop;
  auto options = options_for(server.url());
  options.command_timeout = 500ms;
  options.connect_timeout = 500ms;
  ServerClient client(loop, options);
  Ups ups(client);
  CHECK(call(loop, client, {"DEBUG", "SLEEP", "0.05"}) == "OK");
  const Instant asked = loop.now();
  Answers answers;
  client.call({"DEBUG", "SLEEP", "2"}, answers.callback());
  client.call({"INCR", "n"}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 2; }));
  CHECK(loop.now() - asked >= 500ms);
  CHECK(has(answers.all[0], "lost: "));
  CHECK(has(answers.all[0], "no reply within 500 ms"));
  CHECK(has(answers.all[1], "lost: "));
  CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
  CHECK(call(loop, client, {"PING"}) == "PONG");
}

TEST_CASE("calls with timely replies never time out, however many follow each other") {
  RedisServer server;
  loop::Loop loop;
  auto options = options_for(server.url());
  options.command_timeout = 500ms;
  ServerClient client(loop, options);
  Ups ups(client);
  const Instant end = loop.now() + 1s;
  while (loop.now() < end) CHECK(call(loop, client, {"DEBUG", "SLEEP", "0.05"}) == "OK");
  turn_for(loop, 600ms);  // idle time does not count
  CHECK(call(loop, client, {"PING"}) == "PONG");
  CHECK(ups.downs.empty());
}

TEST_CASE("a reply that arrived while the client was not running is used despite the timeout") {
  RedisServer server;
  loop::Loop loop;
  auto options = options_for(server.url());
  options.command_timeout = 50ms;
  ServerClient client(loop, options);
  CHECK(call(loop, client, {"PING"}) == "PONG");
  Answers answers;
  client.call({"PING"}, answers.callback());
  loop.iterate(false);
  const long long before = server.info("total_commands_processed");
  const Instant late = loop.clock().now() + 2 * options.command_timeout;
  wait_until("the answer to be there, and late", [&] {
    return server.info("total_commands_processed") > before && loop.clock().now() > late;
  });
  CHECK(turn_until(loop, [&] { return !answers.all.empty(); }));
  CHECK(answers.all[0] == "PONG");
}

TEST_CASE("a stopped server is detected and waited for, even by a new connection") {
  RedisServer server({.tcp = true});
  for (const std::string& url : {server.url(), server.tcp_url()}) {
    loop::Loop loop;
    auto options = options_for(url);
    options.command_timeout = options.connect_timeout = 400ms;
    server.pause();
    ServerClient client(loop, options);
    Ups ups(client);
    CHECK(has(call(loop, client, {"PING"}), "no reply in time"));
    CHECK_FALSE(client.connected());
    server.resume();
    CHECK(turn_until(loop, [&] { return ups.ups == 1; }));
    CHECK(call(loop, client, {"PING"}) == "PONG");
  }
}

TEST_CASE("a server that reads nothing gets a limited amount of data") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  CHECK(call(loop, client, {"PING"}) == "PONG");
  server.pause();
  Answers answers;
  const std::string value(1U << 20, 'x');
  for (int i = 0; i < 80; ++i) client.call({"SET", "k", value}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 80; }));
  CHECK(std::ranges::all_of(answers.all, [](const auto& each) { return has(each, "not_sent"); }));
  CHECK(has(client.error(), "does not read"));
  server.resume();
  CHECK(turn_until(loop, [&] { return client.connected(); }));
  CHECK(call(loop, client, {"EXISTS", "k"}) == "0");
}

TEST_CASE("a client whose connection is killed repeatedly reconnects each time") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  Ups ups(client);
  for (int i = 1; i <= 5; ++i) {
    CHECK(turn_until(loop, [&] { return ups.ups == i; }));
    server.command({"CLIENT", "KILL", "TYPE", "normal"});
    CHECK(turn_until(loop, [&] { return static_cast<int>(ups.downs.size()) == i; }));
  }
  CHECK(turn_until(loop, [&] { return client.connected(); }));
}

TEST_CASE("a client in excess of maxclients fails with the reason") {
  RedisServer server({.config = {"maxclients 2"}});
  loop::Loop loop;
  ServerClient one(loop, options_for(server.url()));
  ServerClient two(loop, options_for(server.url()));
  CHECK(call(loop, one, {"PING"}) == "PONG");
  CHECK(call(loop, two, {"PING"}) == "PONG");
  ServerClient three(loop, options_for(server.url()));
  CHECK(has(call(loop, three, {"PING"}), "max number of clients"));
}

TEST_CASE("a client waits while the server is loading") {
  RedisServer server({.config = {"loading-process-events-interval-bytes 1024",
                                 "key-load-delay 1000"}});  // in µs per key
  server.command({"CONFIG", "SET", "key-load-delay", "0"});
  server.command({"DEBUG", "POPULATE", "2000"});
  server.command({"SAVE"});
  server.kill();
  server.start(false);
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  const std::string answer = call(loop, client, {"DBSIZE"});
  CHECK(has(answer, "LOADING"));
  CHECK(has(client.error(), "LOADING"));
  CHECK(turn_until(loop, [&] { return client.connected(); }));
  CHECK(call(loop, client, {"DBSIZE"}) == "2000");
}

TEST_CASE("an endless script blocks new connections until it is killed") {
  RedisServer server({.config = {"busy-reply-threshold 50"}});
  loop::Loop loop;
  auto options = options_for(server.url());
  options.command_timeout = 100ms;
  ServerClient client(loop, options);
  Ups ups(client);
  CHECK(call(loop, client, {"PING"}) == "PONG");
  CHECK(has(call(loop, client, {"EVAL", "while true do end", "0"}), "lost"));
  CHECK(turn_until(loop, [&] { return has(client.error(), "BUSY"); }));
  CHECK(server.command({"SCRIPT", "KILL"}) == "OK");
  CHECK(turn_until(loop, [&] { return client.connected(); }));
}

// Servers that refuse commands of w8y: the client disconnects, and reconnects later.
#include <doctest/doctest.h>

#include <fstream>

#include "fixture.hpp"
#include "redis/script.hpp"
#include "redis/server_client.hpp"
#include "support/sentinels.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::ErrorCode;
using redis::ServerClient;
using redis::unfit;

namespace readonly_test {
namespace {

struct Pair {
  RedisServer primary{{.config = {"repl-diskless-sync-delay 0"}, .tcp = true}};
  RedisServer replica{{.tcp = true}};

  Pair() {
    follow(replica, primary);
    wait_until("the replica", [&] { return replica.info_text("master_link_status") == "up"; });
  }
  static void follow(const RedisServer& server, const RedisServer& primary) {
    server.command({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  }
};

}  // namespace

TEST_CASE("errors of an unusable server are recognized") {
  CHECK(unfit("READONLY You can't write against a read only replica.") == ErrorCode::readonly);
  CHECK(unfit("READONLY You can't write against a read only replica. script: d8f2, on "
              "@user_script:3.") == ErrorCode::readonly);
  CHECK(unfit("ERR Error running script (call to f_d8f2): @user_script:1: @user_script: 1: "
              "-READONLY You can't write against a read only replica.") == ErrorCode::readonly);
  CHECK(unfit("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.") ==
        ErrorCode::masterdown);
  CHECK(unfit("NOAUTH Authentication required.") == ErrorCode::noauth);
  for (const char* other :
       {"", "ERR unknown command", "OOM command not allowed", "ERR READONLY is what I was told",
        "NOSCRIPT No matching script.", "ERR Error running script (call to f_1): oops"})
    CHECK(unfit(other) == ErrorCode::none);
}

TEST_CASE("a primary that becomes a replica is left, and used again when it is the primary") {
  Pair pair;
  loop::Loop loop;
  ServerClient client(loop, options_for(pair.replica.tcp_url()));
  Ups ups(client);
  CHECK(call(loop, client, {"PING"}) == "PONG");  // reading from a replica is allowed
  Answers answers;
  client.call({"GET", "k"}, answers.callback());
  client.call({"SET", "k", "1"}, answers.callback());
  client.call({"GET", "k"}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 3; }));
  CHECK(answers.all[0] == "(nil)");
  CHECK(has(answers.all[1], "READONLY"));
  CHECK(turn_until(loop, [&] { return has(client.error(), "is a replica"); }));
  CHECK(ups.ups == 1);

  pair.replica.command({"REPLICAOF", "NO", "ONE"});
  CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
  CHECK(call(loop, client, {"SET", "k", "1"}) == "OK");
}

TEST_CASE("a permanent replica is not connected to in a tight loop") {
  Pair pair;
  loop::Loop loop;
  ServerClient client(loop, options_for(pair.replica.tcp_url()));
  Ups ups(client);
  const redis::Script script{"set", "return redis.call('SET', KEYS[1], '1')", {}};
  Answers answers;
  client.run(script, {"k"}, {}, answers.callback());
  CHECK(turn_until(loop, [&] { return !ups.downs.empty(); }));
  CHECK(has(answers.all.at(0), "READONLY"));
  const auto before = pair.replica.info("total_connections_received");
  const Instant end = loop.now() + 2s;
  while (loop.now() < end) {
    client.call({"SET", "k", "1"});
    turn_for(loop, 10ms);
  }
  // Pauses of 50, 100, 200, 400, 800 and 1,000 ms, each shortened to at least half by jitter.
  CHECK(pair.replica.info("total_connections_received") - before <= 8);
  CHECK(ups.ups == 1);
  CHECK(ups.downs.size() <= 2);  // the error reply, and the lasting reason
}

TEST_CASE("connections that fail soon after the handshake are not made in a tight loop") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  Ups ups(client);
  const Instant end = loop.now() + 2s;
  int killed = 0;
  while (loop.now() < end) {
    const int before = ups.ups;
    if (!turn_until(
            loop, [&] { return client.connected(); }, end - loop.now()))
      break;
    ++killed;
    server.command({"CLIENT", "KILL", "TYPE", "normal"});
    turn_until(loop, [&] { return !client.connected() || ups.ups > before + 1; });
  }
  CHECK(killed >= 3);
  CHECK(killed <= 8);
}

TEST_CASE("the password file is read again after a change of the password") {
  TempDir dir;
  RedisServer server({.config = {"user bob on >old ~* &* +@all"}, .password = "default's"});
  const auto write = [&](const char* password) {
    std::ofstream(dir / "password") << password << "\n";
  };
  write("old");
  loop::Loop loop;
  auto options = options_for("unix://bob@" + server.socket());
  options.password_file = dir / "password";
  ServerClient client(loop, options);
  Ups ups(client);
  CHECK(call(loop, client, {"SET", "k", "1"}) == "OK");
  CHECK(server.command({"ACL", "SETUSER", "bob", ">new", "<old"}) == "OK");
  write("new");
  client.call({"RESET"});  // logs out without closing the connection
  CHECK(has(call(loop, client, {"GET", "k"}), "NOAUTH"));
  CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
  CHECK(call(loop, client, {"GET", "k"}) == "1");
}

}  // namespace readonly_test

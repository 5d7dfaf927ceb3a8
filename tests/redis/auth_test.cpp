#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "fixture.hpp"
#include "redis/server_client.hpp"
#include "redis/subscriber.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::ServerClient;

namespace auth_test {
namespace {

std::string with_login(const RedisServer& server, const std::string& login) {
  return "unix://" + login + "@" + server.socket();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("the password is sent in the handshake") {
  RedisServer server({.password = "p@ss w/rd"});
  loop::Loop loop;
  ServerClient right(loop, options_for(with_login(server, ":p%40ss%20w%2Frd")));
  CHECK(call(loop, right, {"SET", "k", "v"}) == "OK");

  for (const std::string& url : {with_login(server, ":wrong"), server.url()}) {
    INFO(url);
    ServerClient client(loop, options_for(url));
    Ups ups(client);
    const std::string answer = call(loop, client, {"SET", "k", "w"});
    CHECK(has(answer, "not_sent: " + server.url() + ": "));
    CHECK((has(answer, "WRONGPASS") || has(answer, "NOAUTH")));
    CHECK(!has(client.error(), "wrong@"));
    CHECK(ups.ups == 0);
    CHECK(ups.downs.size() == 1);
  }
  CHECK(call(loop, right, {"GET", "k"}) == "v");
}

TEST_CASE("a password that the server does not need is refused with a reason") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(with_login(server, ":needless")));
  CHECK(has(call(loop, client, {"PING"}), "without any password configured"));
}

TEST_CASE("users of the ACL can log in, including one with few permissions") {
  RedisServer server({.config = {"user bob on >secret ~* &* +@all", "user eve on >secret ~e:* +get",
                                 "user any on nopass ~* +@all"}});
  loop::Loop loop;
  auto options = options_for(with_login(server, "bob:secret"));
  options.name = "bob-s";
  ServerClient bob(loop, options);
  CHECK(call(loop, bob, {"ACL", "WHOAMI"}) == "bob");
  CHECK(call(loop, bob, {"CLIENT", "GETNAME"}) == "bob-s");
  options.url = redis::parse_url(with_login(server, "eve:secret"));
  ServerClient eve(loop, options);
  CHECK(call(loop, eve, {"GET", "e:1"}) == "(nil)");
  CHECK(has(call(loop, eve, {"SET", "e:1", "x"}), "NOPERM"));
  CHECK(has(call(loop, eve, {"GET", "f"}), "NOPERM"));
  ServerClient any(loop, options_for(with_login(server, "any")));
  CHECK(call(loop, any, {"ACL", "WHOAMI"}) == "any");
  ServerClient nobody(loop, options_for(with_login(server, "nobody:secret")));
  CHECK(has(call(loop, nobody, {"PING"}), "WRONGPASS"));
}

TEST_CASE("the name and version of the library follow the handshake on each connection") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  const std::string info = call(loop, client, {"CLIENT", "INFO"});
  if (has(info, " lib-name=")) {
    CHECK(has(info, " lib-name=w8y "));
    CHECK(has(info, " lib-ver=" W8Y_VERSION));
  } else {  // Redis before 7.2 refuses both commands
    CHECK(server.info_text("errorstat_ERR") == "count=2");
  }
  CHECK(client.error().empty());
}

TEST_CASE("a server that refuses the name and version of the library serves all other commands") {
  RedisServer server({.config = {"user eve on >secret ~e:* &* +get +set +ping +subscribe"}});
  loop::Loop loop;
  ServerClient eve(loop, options_for(with_login(server, "eve:secret")));
  Ups ups(eve);
  CHECK(call(loop, eve, {"SET", "e:1", "x"}) == "OK");
  CHECK(call(loop, eve, {"GET", "e:1"}) == "x");
  CHECK(ups.ups == 1);
  CHECK(ups.downs.empty());
  CHECK(eve.error().empty());
  redis::Subscriber subscriber(loop, options_for(with_login(server, "eve:secret")));
  std::string message;
  bool ready = false;
  const auto subscription = subscriber.subscribe(
      "channel", [&](std::string_view, std::string_view payload) { message = payload; },
      [&] { ready = true; });
  CHECK(turn_until(loop, [&] { return ready; }));
  server.command({"PUBLISH", "channel", "hello"});
  CHECK(turn_until(loop, [&] { return !message.empty(); }));
  CHECK(message == "hello");
  CHECK(subscriber.error().empty());
}

TEST_CASE("the database is selected on each connection, or the connection fails") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url() + "?db=5"));
  Ups ups(client);
  CHECK(call(loop, client, {"SET", "k", "five"}) == "OK");
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
  CHECK(call(loop, client, {"GET", "k"}) == "five");
  CHECK(server.command({"GET", "k"}) == "(nil)");

  ServerClient nowhere(loop, options_for(server.url() + "?db=16"));
  CHECK(has(call(loop, nowhere, {"SET", "k", "lost"}), "out of range"));
  CHECK(server.command({"GET", "k"}) == "(nil)");
}

TEST_CASE("the password file is read for each connection") {
  RedisServer server({.password = "first"});
  const std::string file = server.dir() / "password";
  loop::Loop loop;
  auto options = options_for(server.url());
  options.password_file = file;
  ServerClient client(loop, options);
  Ups ups(client);
  CHECK(has(call(loop, client, {"PING"}), "password file " + file + ": not found"));
  write(file, "");
  CHECK(turn_until(loop, [&] { return has(client.error(), "empty"); }));
  write(file, std::string(5000, 'x'));
  CHECK(turn_until(loop, [&] { return has(client.error(), "too long"); }));
  write(file, "wrong\n");
  CHECK(turn_until(loop, [&] { return has(client.error(), "WRONGPASS"); }));
  write(file, "first\n");
  client.reconnect_now();
  CHECK(turn_until(loop, [&] { return client.connected(); }));

  // The password changes while the client is connected: the next connection uses the new one.
  server.command({"CONFIG", "SET", "requirepass", "second"});
  write(file, "second\r\n");
  CHECK(call(loop, client, {"PING"}) == "PONG");
  client.call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"});
  CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
  CHECK(call(loop, client, {"PING"}) == "PONG");
}

}  // namespace auth_test

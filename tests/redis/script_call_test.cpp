#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "fixture.hpp"
#include "redis/server_client.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::Client;
using redis::ServerClient;

namespace script_call_test {
namespace {

constexpr std::string_view no_hash = "0000000000000000000000000000000000000000";

// Hash: printf '%s' TEXT | sha1sum
const redis::Script echo{"test", "return {ARGV[3], KEYS[1]..':'..ARGV[1]..':'..ARGV[2]}",
                         "fcbdfb08d41ca88a6e69a49052d58221211968f7"};

std::string run_echo(loop::Loop& loop, Client& client) {
  Answers answers;
  client.run(echo, {"k"}, {"a", "1"}, answers.callback());
  turn_until(loop, [&] { return !answers.all.empty(); });
  return answers.all.empty() ? "(unanswered)" : answers.all.front();
}

}  // namespace

TEST_CASE("a script is sent once per connection, then called by its hash") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  Ups ups(client);
  Answers answers;
  for (int i = 0; i < 10; ++i)
    client.run(echo, {"k"}, {"a", std::to_string(i)}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 10; }));
  CHECK(answers.all.front() == "k:a:0");
  CHECK(answers.all.back() == "k:a:9");
  CHECK(server.calls("eval") == 1);
  CHECK(server.calls("evalsha") == 9);

  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(turn_until(loop, [&] { return ups.ups == 2; }));
  client.run(echo, {"k"}, {"b", ""}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 11; }));
  CHECK(answers.all.back() == "k:b:");
  CHECK(server.calls("eval") == 2);
}

TEST_CASE("a short-lived client calls a script by its hash, and sends it if it is unknown") {
  RedisServer server;
  auto options = options_for(server.url());
  options.scripts_are_known = true;
  for (int life = 0; life < 3; ++life) {
    loop::Loop loop;
    ServerClient client(loop, options);
    Answers answers;
    client.run(echo, {"k"}, {"a", std::to_string(life)}, answers.callback());
    CHECK(turn_until(loop, [&] { return answers.all.size() == 1; }));
    CHECK(answers.all.front() == "k:a:" + std::to_string(life));
  }
  CHECK(server.calls("eval") == 1);
  CHECK(server.calls("evalsha") == 3);  // the first one was unknown
}

TEST_CASE("a script is sent again after SCRIPT FLUSH, without an error for the caller") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  Answers answers;
  client.run(echo, {"k"}, {"a", "0"}, answers.callback());
  client.call({"SCRIPT", "FLUSH"}, answers.callback());
  const std::string binary("\0\r\n\xff", 4);
  for (int i = 0; i < 5; ++i) client.run(echo, {binary}, {"a", binary}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 7; }));
  CHECK(answers.all[1] == "OK");
  for (std::size_t i = 2; i < 7; ++i) CHECK(answers.all[i] == binary + ":a:" + binary);
  client.run(echo, {"k"}, {"c", "1"}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 8; }));
  CHECK(answers.all.back() == "k:c:1");
}

TEST_CASE("script errors, missing permissions and lost connections are replies like others") {
  RedisServer server({.config = {"user plain on >p ~* +@all -@scripting"}});
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  const redis::Script wrong{"test", "return redis.call('LPUSH', 'k')", no_hash};
  Answers answers;
  client.run(wrong, {}, {}, answers.callback());
  client.run(wrong, {}, {}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 2; }));
  CHECK(has(answers.all[0], "ERR Wrong number of args"));
  CHECK(has(answers.all[1], "ERR Wrong number of args"));

  ServerClient plain(loop, options_for("unix://plain:p@" + server.socket()));
  redis::ErrorCode code = redis::ErrorCode::none;
  plain.run(echo, {"k"}, {"a", "b"}, [&](const redis::Answer& answer) { code = answer.error(); });
  CHECK(turn_until(loop, [&] { return code != redis::ErrorCode::none; }));
  CHECK(code == redis::ErrorCode::noperm);

  server.kill();
  CHECK(turn_until(loop, [&] { return !client.connected(); }));
  client.run(echo, {"k"}, {"a", "b"}, answers.callback());
  CHECK(answers.all.size() == 2);
  CHECK(turn_until(loop, [&] { return answers.all.size() == 3; }));
  CHECK(has(answers.all[2], "not_sent"));
}

TEST_CASE("a reply of another call is not used, and neither are later replies") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  Ups ups(client);
  const redis::Script of_another{"test", "return {'99', 'theirs'}", no_hash};
  const redis::Script nameless{"test", "return 1", no_hash};
  for (const redis::Script* script : {&of_another, &nameless}) {
    INFO(script->text);
    const int before = ups.ups;
    Answers answers;
    client.run(echo, {"k"}, {"a", "0"}, answers.callback());
    client.run(*script, {}, {}, answers.callback());
    client.call({"SET", "done", "1"}, answers.callback());
    CHECK(turn_until(loop, [&] { return answers.all.size() == 3; }));
    CHECK(answers.all[0] == "k:a:0");
    CHECK(has(answers.all[1], "lost: "));
    CHECK(has(answers.all[1], "received the reply to another call"));
    CHECK(has(answers.all[2], "lost: "));
    CHECK(server.command({"GET", "done"}) == "1");
    CHECK(turn_until(loop, [&] { return ups.ups > before && client.connected(); }));
    CHECK(run_echo(loop, client) == "k:a:1");
  }
}

TEST_CASE("the reply of a script may be nil or an error") {
  RedisServer server;
  loop::Loop loop;
  ServerClient client(loop, options_for(server.url()));
  const redis::Script none{"test", "return {ARGV[1], nil}", no_hash};
  const redis::Script error{"test", "return {ARGV[1], redis.error_reply('NOPE why')}", no_hash};
  std::vector<std::string> told;
  client.run(none, {}, {}, [&](const redis::Answer& answer) {
    CHECK(answer.ok());
    told.push_back(answer.reply.is_nil() ? "nil" : "something");
  });
  client.run(error, {}, {}, [&](const redis::Answer& answer) {
    CHECK(!answer.ok());
    told.push_back(answer.problem());
  });
  CHECK(turn_until(loop, [&] { return told.size() == 2; }));
  CHECK(told == std::vector<std::string>{"nil", "NOPE why"});
}

}  // namespace script_call_test

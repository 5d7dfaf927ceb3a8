#include "api/query_runner.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::app;
using namespace w8y::api;
using namespace w8y::test;

namespace query_runner_test {
namespace {

http::HttpResponse text(std::string body) {
  http::HttpResponse response;
  response.body = std::move(body);
  return response;
}

struct Host {
  explicit Host(QueryLimits limits = {}) : queries(loop, ground(), limits) {}

  QueryRunner::Ground ground() {
    return {[this] {
              redis::ClientOptions options;
              options.url = redis::parse_url(url);
              // These are so long that only the timeout of the QueryRunner takes effect.
              options.connect_timeout = options.command_timeout = std::chrono::minutes(5);
              options.name = "looks";
              return options;
            },
            [] { return std::make_shared<const Config>(); }};
  }
  void ask(QueryRunner::Query look, bool trusted = true) {
    queries.run(
        std::move(look),
        [this](http::HttpResponse response) { answers.push_back(std::move(response)); }, trusted);
  }
  /// Queries a key, and waits for the response.
  http::HttpResponse get(const std::string& key) {
    const std::size_t before = answers.size();
    ask([key](verbs::QueryContext& query) { return text(query.redis.call({"GET", key}).text); });
    wait_for_answers(before + 1);
    return answers.back();
  }
  void wait_for_answers(std::size_t count) {
    REQUIRE(turn_until(loop, [&] { return answers.size() >= count; }));
  }

  std::string url;
  std::vector<http::HttpResponse> answers;
  loop::Loop loop;
  QueryRunner queries;
};

std::size_t connections(const RedisServer& server) {
  std::size_t count = 0;
  const std::string all = server.command({"CLIENT", "LIST"});
  for (std::size_t at = 0; (at = all.find("name=looks", at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

TEST_CASE("queries: they run in order, and their responses are sent from the loop") {
  RedisServer server;
  server.command({"SET", "a", "1"});
  server.command({"RPUSH", "list", "x"});
  Host host;
  host.url = server.url();
  host.ask([](verbs::QueryContext& query) { return text(query.redis.call({"GET", "a"}).text); });
  host.ask([](verbs::QueryContext& query) { return text(query.redis.call({"GET", "list"}).text); });
  host.ask([](verbs::QueryContext&) -> http::HttpResponse {
    throw verbs::QueryError(404, "there is no such");
  });
  host.ask(
      [](verbs::QueryContext&) -> http::HttpResponse { throw std::runtime_error("our mistake"); });
  host.ask(
      [](verbs::QueryContext& query) { return text(query.cluster() ? "cluster" : "one server"); });
  CHECK(host.answers.empty());
  host.wait_for_answers(5);
  CHECK(host.answers[0].body == "1");
  CHECK(host.answers[1].status == 409);
  CHECK(host.answers[1].body.find("Redis refuses: WRONGTYPE") != std::string::npos);
  CHECK(host.answers[2].status == 404);
  CHECK(host.answers[2].body == "{\"error\":\"there is no such\"}\n");
  CHECK(host.answers[3].status == 500);
  CHECK(host.answers[4].body == "one server");
}

TEST_CASE("queries: excess queries are refused, and a query waits at most for its timeout") {
  RedisServer server;
  server.command({"SET", "a", "1"});
  Host host({.waiting = 2, .timeout = std::chrono::milliseconds(300)});
  host.url = server.url();
  REQUIRE(turn_until(host.loop, [&] { return host.get("a").body == "1"; }));
  host.answers.clear();
  server.pause();
  for (int i = 0; i < 2; ++i)
    host.ask([](verbs::QueryContext& query) { return text(query.redis.call({"GET", "a"}).text); });
  CHECK(host.answers.empty());
  host.ask([](verbs::QueryContext&) { return text("never"); });
  REQUIRE(host.answers.size() == 1);  // at once
  CHECK(host.answers[0].status == 503);
  CHECK(host.answers[0].body.find("too many queries") != std::string::npos);
  host.wait_for_answers(3);
  CHECK(host.answers[1].status == 503);
  CHECK(host.answers[1].body.find("no reply from Redis") != std::string::npos);
  CHECK(host.answers[2].status == 503);
  server.resume();
  REQUIRE(turn_until(host.loop, [&] { return host.get("a").body == "1"; }));
}

TEST_CASE("queries: untrusted clients have half of the queue, and alternate with trusted ones") {
  RedisServer server;
  Host host({.waiting = 8});
  host.url = server.url();
  REQUIRE(turn_until(host.loop, [&] { return host.get("a").status == 200; }));
  host.answers.clear();
  // The thread is held in the first query until all others are queued.
  const auto started = std::make_shared<std::atomic<bool>>(false);
  const auto go = std::make_shared<std::atomic<bool>>(false);
  const auto say = [](const char* word) {
    return [word](verbs::QueryContext&) { return text(word); };
  };
  host.ask(
      [started, go](verbs::QueryContext&) {
        *started = true;
        started->notify_all();
        go->wait(false);
        return text("first");
      },
      false);
  started->wait(false);
  for (int i = 0; i < 3; ++i) host.ask(say("any"), false);
  host.ask(say("never"), false);
  REQUIRE(host.answers.size() == 1);
  CHECK(host.answers[0].status == 503);
  CHECK(host.answers[0].body.find("too many queries") != std::string::npos);
  for (int i = 0; i < 4; ++i) host.ask(say("trusted"), true);
  CHECK(host.answers.size() == 1);
  host.ask(say("never"), true);
  REQUIRE(host.answers.size() == 2);
  CHECK(host.answers[1].status == 503);
  host.answers.clear();
  *go = true;
  go->notify_all();
  host.wait_for_answers(8);
  std::vector<std::string> order;
  for (const auto& answer : host.answers) order.push_back(answer.body);
  CHECK(order == std::vector<std::string>{"first", "trusted", "any", "trusted", "any", "trusted",
                                          "any", "trusted"});
  host.answers.clear();
  host.ask(say("any"), false);
  host.wait_for_answers(1);
  CHECK(host.answers[0].body == "any");
}

TEST_CASE("queries: stopping does not wait for a Redis that hangs") {
  RedisServer server;
  Host host({.timeout = std::chrono::minutes(5)});
  host.url = server.url();
  REQUIRE(host.get("a").status == 200);
  server.pause();
  SUBCASE("during a query") {
    std::atomic<bool> started = false;
    host.ask([&started](verbs::QueryContext& query) {
      started = true;
      return text(query.redis.call({"GET", "a"}).text);
    });
    REQUIRE(turn_until(host.loop, [&] { return started.load(); }));
  }
  SUBCASE("with queries that have not started") {
    for (int i = 0; i < 20; ++i)
      host.ask([](verbs::QueryContext& query) {
        return text(query.redis.call({"GET", "a"}).text);
      });
  }
  const std::size_t answered = host.answers.size();
  const Instant before = host.loop.now();
  host.queries.stop();
  CHECK(host.loop.now() - before < std::chrono::minutes(1));
  host.ask([](verbs::QueryContext&) { return text("never"); });
  CHECK(host.answers.size() == answered + 1);
  CHECK(host.answers.back().status == 503);
}

TEST_CASE("queries: they work again after an outage of Redis") {
  RedisServer server;
  server.command({"SET", "a", "1"});
  server.command({"SAVE"});
  Host host;
  host.url = server.url();
  REQUIRE(host.get("a").body == "1");
  server.kill();
  CHECK(host.get("a").status == 503);
  CHECK(host.get("a").status == 503);
  server.start();
  CHECK(host.get("a").body == "1");
}

TEST_CASE(
    "queries: an unused connection is closed, and a reload with another Redis opens a new one") {
  RedisServer first;
  RedisServer second;
  first.command({"SET", "a", "1"});
  second.command({"SET", "a", "2"});
  Host host({.unused = std::chrono::milliseconds(50)});
  host.url = first.url();
  CHECK(connections(first) == 0);
  CHECK(host.get("a").body == "1");
  REQUIRE(turn_until(host.loop, [&] { return connections(first) == 0; }));
  CHECK(host.get("a").body == "1");
  host.url = second.url();
  CHECK(host.get("a").body == "1");  // no reload yet
  host.queries.commit({});
  CHECK(host.get("a").body == "2");
}

TEST_CASE("queries: a response that is too large is refused") {
  RedisServer server;
  Host host({.answer = 10});
  host.url = server.url();
  host.ask([](verbs::QueryContext&) { return text(std::string(10, 'x')); });
  host.ask([](verbs::QueryContext&) { return text(std::string(11, 'x')); });
  host.wait_for_answers(2);
  CHECK(host.answers[0].status == 200);
  CHECK(host.answers[1].status == 409);
  CHECK(host.answers[1].body.find("use a smaller ?limit=") != std::string::npos);
}

}  // namespace query_runner_test

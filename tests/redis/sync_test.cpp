#include "redis/sync.hpp"

#include <doctest/doctest.h>

#include <string>

#include "fixture.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::RedisError;
using redis::ReplyCopy;
using redis::SyncClient;

TEST_CASE("a synchronous client returns replies in order") {
  RedisServer server;
  loop::Loop loop;
  SyncClient redis(loop, options_for(server.url()));
  CHECK(redis.call({"SET", "k", "12"}).text == "OK");
  const ReplyCopy value = redis.call({"GET", "k"});
  CHECK(value.kind == ReplyCopy::Kind::string);
  CHECK(value.text == "12");
  CHECK(value.number == 12);
  CHECK(redis.call({"INCR", "k"}).number == 13);
  CHECK(redis.call({"GET", "none"}).is_nil());
  redis.call({"RPUSH", "l", "a", "b"});
  const ReplyCopy list = redis.call({"LRANGE", "l", "0", "-1"});
  REQUIRE(list.elements.size() == 2);
  CHECK(list.elements[1].text == "b");

  const auto all = redis.pipeline({{"GET", "k"}, {"LPUSH", "k", "x"}, {"LLEN", "l"}});
  REQUIRE(all.size() == 3);
  CHECK(all[0].text == "13");
  CHECK(all[1].is_error());
  CHECK(all[2].number == 2);
}

TEST_CASE("a synchronous client throws errors with a readable text") {
  RedisServer server;
  loop::Loop loop;
  SyncClient redis(loop, options_for(server.url()));
  try {
    redis.call({"EVALSHA", std::string(40, '0'), "0"});
    FAIL("no error");
  } catch (const RedisError& error) {
    CHECK(error.code() == redis::ErrorCode::noscript);
    CHECK(has(error.what(), "NOSCRIPT"));
  }
  server.kill();
  const auto failing = [&] {
    try {
      redis.call({"PING"});
    } catch (const RedisError& error) {
      CHECK(error.code() == redis::ErrorCode::none);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(has(failing(), server.url()));
  CHECK(has(failing(), server.url()));
  CHECK_THROWS_AS(redis.pipeline({{"PING"}, {"PING"}}), RedisError);
  server.start();
  CHECK(turn_until(loop, [&] { return redis.client().connected(); }));
  CHECK(redis.call({"PING"}).text == "PONG");
}

TEST_CASE("a one-shot program gets its first reply in a short time") {
  RedisServer server({.tcp = true});
  for (const std::string& url : {server.url(), server.tcp_url()}) {
    Duration best = 1h;
    for (int i = 0; i < 50; ++i) {
      const auto begin = loop::SystemClock().now();
      loop::Loop loop;
      SyncClient redis(loop, options_for(url));
      CHECK(redis.call({"PING"}).text == "PONG");
      best = std::min(best, Duration(loop::SystemClock().now() - begin));
    }
    MESSAGE(url << ": " << best.count() << " us");
    CHECK(best < 5ms);  // about 50 µs; resolving a name or loading TLS would exceed the limit
  }
}

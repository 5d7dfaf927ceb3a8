#include "redis/subscriber.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "fixture.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::Subscriber;
using redis::Subscription;

namespace subscriber_test {
namespace {

struct Heard : Subscriber::Listener {
  using Listener::Listener;
  int ups = 0;
  int downs = 0;
  std::vector<std::string> refused;
  std::vector<std::string> all;

  Subscriber::Callback take(const std::string& mark = "") {
    return [this, mark](std::string_view channel, std::string_view payload) {
      all.push_back(mark + std::string(channel) + "=" + std::string(payload));
    };
  }

 private:
  void on_up() override { ++ups; }
  void on_down(const std::string&) override { ++downs; }
  void on_refused(const std::string& channel, const std::string&) override {
    refused.push_back(channel);
  }
};

}  // namespace

TEST_CASE("messages arrive as they were published") {
  RedisServer server;
  loop::Loop loop;
  Subscriber subscriber(loop, options_for(server.url()));
  Heard heard(subscriber);
  turn_for(loop, 20ms);
  CHECK(server.info("total_connections_received") > 0);
  CHECK(server.command({"CLIENT", "LIST", "TYPE", "pubsub"}).empty());

  int ready = 0;
  const std::string odd("a\0\r\n\xff", 5);
  const auto one = subscriber.subscribe("one", heard.take(), [&] { ++ready; });
  const auto two = subscriber.subscribe(odd, heard.take());
  const auto again = subscriber.subscribe("one", heard.take("2:"), [&] { ++ready; });
  CHECK(turn_until(loop, [&] { return heard.ups == 1; }));
  CHECK(ready == 2);
  CHECK(subscriber.connected());
  CHECK(server.command({"PUBLISH", "one", odd}) == "1");
  CHECK(server.command({"PUBLISH", odd, ""}) == "1");
  CHECK(server.command({"PUBLISH", "other", "x"}) == "0");
  CHECK(turn_until(loop, [&] { return heard.all.size() == 3; }));
  CHECK(heard.all == std::vector<std::string>{"one=" + odd, "2:one=" + odd, odd + "="});
}

TEST_CASE("subscriptions of one channel share it, and the last one unsubscribes") {
  RedisServer server;
  loop::Loop loop;
  Subscriber subscriber(loop, options_for(server.url()));
  Heard heard(subscriber);
  int ready = 0;
  auto first = subscriber.subscribe("c", heard.take("1:"), [&] { ++ready; });
  CHECK(turn_until(loop, [&] { return ready == 1; }));
  auto second = subscriber.subscribe("c", heard.take("2:"), [&] { ready += 10; });
  CHECK(ready == 1);
  CHECK(turn_until(loop, [&] { return ready == 11; }));
  CHECK(server.command({"PUBSUB", "NUMSUB", "c"}) == "c\n1");
  server.command({"PUBLISH", "c", "x"});
  CHECK(turn_until(loop, [&] { return heard.all.size() == 2; }));
  first.reset();
  server.command({"PUBLISH", "c", "y"});
  CHECK(turn_until(loop, [&] { return heard.all.size() == 3; }));
  CHECK(heard.all.back() == "2:c=y");
  second = Subscription();
  CHECK(turn_until(loop, [&] {
    turn_for(loop, 5ms);
    return server.command({"PUBSUB", "NUMSUB", "c"}) == "c\n0";
  }));

  // Unsubscribe and subscribe within one loop iteration, and in several.
  auto third = subscriber.subscribe("c", heard.take("3:"));
  third.reset();
  third = subscriber.subscribe("c", heard.take("3:"));
  loop.iterate(false);
  third.reset();
  loop.iterate(false);
  bool again = false;
  third = subscriber.subscribe("c", heard.take("4:"), [&] { again = true; });
  CHECK(turn_until(loop, [&] { return again; }));
  server.command({"PUBLISH", "c", "z"});
  CHECK(turn_until(loop, [&] { return heard.all.size() == 4; }));
  CHECK(heard.all.back() == "4:c=z");
}

TEST_CASE(
    "a subscription may cancel itself and others in its callback, and outlive the subscriber") {
  RedisServer server;
  loop::Loop loop;
  auto subscriber = std::make_unique<Subscriber>(loop, options_for(server.url()));
  int heard = 0;
  bool ready = false;
  Subscription self;
  Subscription other;
  Subscription added;
  self = subscriber->subscribe("c", [&](auto, auto) {
    ++heard;
    self.reset();
    other.reset();
    added = subscriber->subscribe("c", [&](auto, auto) { heard += 100; });
  });
  other = subscriber->subscribe(
      "c", [&](auto, auto) { heard += 10; }, [&] { ready = true; });
  CHECK(turn_until(loop, [&] { return ready; }));
  server.command({"PUBLISH", "c", "x"});
  CHECK(turn_until(loop, [&] { return heard > 0; }));
  CHECK(heard == 1);
  server.command({"PUBLISH", "c", "x"});
  CHECK(turn_until(loop, [&] { return heard > 1; }));
  CHECK(heard == 101);
  subscriber.reset();
  added.reset();
  turn_for(loop, 10ms);
}

TEST_CASE("all channels are subscribed again after SIGKILL of the server, with a notification") {
  RedisServer server({.tcp = true});
  for (const std::string& url : {server.url(), server.tcp_url()}) {
    loop::Loop loop;
    Subscriber subscriber(loop, options_for(url));
    Heard heard(subscriber);
    int ready = 0;
    const auto kept = subscriber.subscribe("kept", heard.take(), [&] { ++ready; });
    auto dropped = subscriber.subscribe("dropped", heard.take());
    CHECK(turn_until(loop, [&] { return heard.ups == 1; }));
    server.kill();
    CHECK(turn_until(loop, [&] { return heard.downs >= 1; }));
    CHECK_FALSE(subscriber.connected());
    CHECK_FALSE(subscriber.error().empty());
    dropped.reset();
    const auto added = subscriber.subscribe("added", heard.take(), [&] { ++ready; });
    { const auto brief = subscriber.subscribe("brief", heard.take()); }
    server.start();
    CHECK(turn_until(loop, [&] { return heard.ups == 2; }));
    CHECK(ready == 3);
    CHECK(server.command({"PUBLISH", "dropped", "x"}) == "0");
    CHECK(server.command({"PUBLISH", "brief", "x"}) == "0");
    CHECK(server.command({"PUBLISH", "kept", "x"}) == "1");
    CHECK(server.command({"PUBLISH", "added", "y"}) == "1");
    CHECK(turn_until(loop, [&] { return heard.all.size() == 2; }));
  }
}

TEST_CASE("10,000 channels cost one command and one connection") {
  RedisServer server;
  loop::Loop loop;
  Subscriber subscriber(loop, options_for(server.url()));
  Heard heard(subscriber);
  std::vector<Subscription> wishes;
  for (int i = 0; i < 10'000; ++i)
    wishes.push_back(subscriber.subscribe("channel:" + std::to_string(i), heard.take()));
  CHECK(turn_until(loop, [&] { return heard.ups == 1; }));
  CHECK(has(server.command({"INFO", "commandstats"}), "cmdstat_subscribe:calls=1,"));
  server.command({"PUBLISH", "channel:9999", "x"});
  CHECK(turn_until(loop, [&] { return heard.all.size() == 1; }));
  const auto more = subscriber.subscribe("channel:more", heard.take());
  wishes.clear();
  CHECK(turn_until(loop, [&] {
    turn_for(loop, 5ms);
    return server.command({"PUBSUB", "CHANNELS"}) == "channel:more";
  }));
  CHECK(has(server.command({"INFO", "commandstats"}), "cmdstat_unsubscribe:calls=1,"));
}

TEST_CASE("a subscriber leaves a server that does not reply, and reconnects") {
  RedisServer server;
  loop::Loop loop;
  auto options = options_for(server.url());
  options.command_timeout = options.connect_timeout = 400ms;
  Subscriber subscriber(loop, options);
  Heard heard(subscriber);
  const auto wish = subscriber.subscribe("c", heard.take());
  CHECK(turn_until(loop, [&] { return heard.ups == 1; }));
  turn_for(loop, 1s);
  CHECK(heard.downs == 0);  // a channel may have no messages
  server.pause();
  CHECK(turn_until(loop, [&] { return heard.downs >= 1; }));
  server.resume();
  CHECK(turn_until(loop, [&] { return heard.ups == 2; }));
  server.command({"PUBLISH", "c", "x"});
  CHECK(turn_until(loop, [&] { return heard.all.size() == 1; }));
}

TEST_CASE("a channel without permission does not affect other channels") {
  RedisServer server({.config = {"user bob on >p ~* resetchannels &ok:* +@all"}});
  loop::Loop loop;
  Subscriber subscriber(loop, options_for("unix://bob:p@" + server.socket()));
  Heard heard(subscriber);
  int ready = 0;
  const auto a = subscriber.subscribe("ok:a", heard.take(), [&] { ++ready; });
  const auto b = subscriber.subscribe("forbidden", heard.take(), [&] { ready += 100; });
  const auto c = subscriber.subscribe("ok:c", heard.take(), [&] { ++ready; });
  CHECK(turn_until(loop, [&] { return ready == 2 && !heard.refused.empty(); }));
  CHECK(heard.refused == std::vector<std::string>{"forbidden"});
  server.command({"PUBLISH", "ok:c", "x"});
  CHECK(turn_until(loop, [&] { return heard.all.size() == 1; }));
  CHECK(heard.downs == 0);
}

}  // namespace subscriber_test

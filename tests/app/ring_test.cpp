// Query for the ring of a circular list: states of the items, rotation and cost.
#include "operator/ring.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "api/ring_endpoint.hpp"
#include "core/job_settings.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::app;
using namespace w8y::api;
using namespace w8y::test;

namespace ring_test {
namespace {

using Json = nlohmann::json;

struct RingReply : http::HttpReply {
  http::HttpResponse answer;
  bool answered = false;
  void send(http::HttpResponse response) override {
    answer = std::move(response);
    answered = true;
  }
  std::shared_ptr<http::HttpStream> stream(std::string, std::string) override { return nullptr; }
};

struct RingHost {
  RingHost() : queries(loop, ground()), ring(loop, queries) {
    ListConfig rule;
    rule.prefix = "work";
    config->lists["work"] = std::make_shared<const ListConfig>(rule);
    rule.prefix = "jobs";
    rule.source = JobSettings{};
    config->lists["jobs"] = std::make_shared<const ListConfig>(rule);
    ring.add_to(router);
  }
  QueryRunner::Ground ground() {
    return {[this] {
              redis::ClientOptions options;
              options.url = redis::parse_url(server.url());
              return options;
            },
            [this]() -> ConfigPtr { return config; }};
  }
  std::shared_ptr<RingReply> ask(const std::string& prefix, const std::string& most = {}) {
    auto reply = std::make_shared<RingReply>();
    http::HttpRequest request;
    request.method = "GET";
    request.path = {"api", "v1", "lists", prefix, "ring"};
    if (!most.empty()) request.query["most"] = most;
    router.handle(request, reply);
    return reply;
  }
  Json get(const std::string& prefix, const std::string& most = {}) {
    const auto reply = ask(prefix, most);
    REQUIRE(turn_until(loop, [&] { return reply->answered; }));
    REQUIRE(reply->answer.status == 200);
    return Json::parse(reply->answer.body);
  }
  unsigned status(const std::string& prefix, const std::string& most = {}) {
    const auto reply = ask(prefix, most);
    REQUIRE(turn_until(loop, [&] { return reply->answered; }));
    return reply->answer.status;
  }
  void push(int first, int end) {
    std::vector<std::string> command{"RPUSH", "work:list"};
    for (int i = first; i < end; ++i) command.push_back("item" + std::to_string(i));
    server.command(command);
  }

  const RedisServer server;
  loop::Loop loop;
  std::shared_ptr<Config> config = std::make_shared<Config>();
  QueryRunner queries;
  RingEndpoint ring;
  http::Router router;
};

}  // namespace

TEST_CASE("a ring has the state and holder of each item") {
  RingHost host;
  CHECK(host.get("work")["ring"] == "");
  turn_for(host.loop, std::chrono::seconds(1));
  host.push(0, 4);
  host.server.command({"RPUSH", "work:list", "bytes\xff"});
  host.server.command(
      {"SET", "work:lock:item1", "run:alpha:77:01JD0000000000000000000000", "PX", "60000"});
  host.server.command({"SET", "work:lock:item2", "delay:cooldown", "PX", "60000"});
  host.server.command({"SET", "work:lock:item3", "quarantine:by hand"});
  const Json ring = host.get("work");
  CHECK(ring["ring"] == "frdqf");
  CHECK(ring["length"] == 5);
  CHECK(ring["sampled"] == false);
  CHECK(ring["segments"] == Json({{0, 5}}));
  CHECK(ring["items"][0]["item"] == "item0");
  CHECK(ring["items"][4].contains("item_base64"));
  REQUIRE(ring["locked"].size() == 3);
  CHECK(ring["locked"][0]["host"] == "alpha");
  CHECK(ring["locked"][0]["index"] == 1);
  CHECK(ring["locked"][1]["state"] == "quarantined");
  CHECK(ring["locked"][2]["until_ms"].get<long long>() > ring["now_ms"].get<long long>());
  CHECK(ring["max_age_ms"].get<int>() >= 900);
}

TEST_CASE("a ring of a long list is marked as a sample") {
  RingHost host;
  for (int i = 0; i < 20'000; i += 1000) host.push(i, i + 1000);
  host.server.command({"SET", "work:lock:item19950", "delay:backoff", "PX", "60000"});
  const Json ring = host.get("work");
  CHECK(ring["length"] == 20'000);
  CHECK(ring["examined"] == 10'000);
  CHECK(ring["sampled"] == true);
  CHECK(ring["rotation"].is_null());
  CHECK(ring["segments"].size() == 100);
  CHECK(ring["segments"][99] == Json({19'900, 100}));
  CHECK(ring["ring"].get<std::string>()[9'950] == 'd');
  CHECK(!ring.contains("items"));
  const Json few = host.get("work", "200");
  CHECK(few["examined"] == 200);
}

TEST_CASE("simultaneous requests share one query, and the next query waits for its interval") {
  RingHost host;
  host.push(0, 100);
  std::vector<std::shared_ptr<RingReply>> replies;
  for (int i = 0; i < 20; ++i) replies.push_back(host.ask("work"));
  REQUIRE(turn_until(host.loop, [&] {
    return std::all_of(replies.begin(), replies.end(),
                       [](const auto& one) { return one->answered; });
  }));
  const long long looks = host.server.calls("llen");
  CHECK(looks == 1);
  CHECK(host.get("work")["length"] == 100);
  CHECK(host.server.calls("llen") == looks);
}

TEST_CASE("a ring that does not exist is refused with a status code") {
  RingHost host;
  CHECK(host.status("nothing") == 404);
  CHECK(host.status("jobs") == 409);
  for (const char* most : {"0", "10001", "x", "-1"}) CHECK(host.status("work", most) == 400);
}

TEST_CASE("the rotation of a ring is the distance that its items have moved") {
  verbs::RingRotation turn;
  std::vector<std::uint64_t> items;
  for (std::uint64_t i = 0; i < 50; ++i) items.push_back(i * 7919);
  turn.record(items);
  CHECK(turn.places() == 0);
  std::rotate(items.begin(), items.begin() + 3, items.end());
  turn.record(items);
  CHECK(turn.places() == 3);
  items.push_back(1);  // one more at the end
  turn.record(items);
  CHECK(turn.places() == 3);
  std::rotate(items.begin(), items.begin() + 40, items.end());
  turn.record(items);
  CHECK(turn.places() == 43);
  turn.record({});
  turn.record({5, 6});
  CHECK(turn.places() == 43);
}

}  // namespace ring_test

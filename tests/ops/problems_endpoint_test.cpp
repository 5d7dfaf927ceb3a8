// GET /api/v1/problems, and the response that all clients of an endpoint share.
#include "api/problems_endpoint.hpp"

#include <memory>
#include <string>

#include "api_support.hpp"

namespace problems_endpoint_test {
namespace {

using namespace w8y;
using namespace w8y::ops::test;

struct FakeReply : HttpReply {
  HttpResponse response;
  int sent = 0;
  void send(HttpResponse given) override {
    response = std::move(given);
    ++sent;
  }
  std::shared_ptr<HttpStream> stream(std::string, std::string) override { return nullptr; }
};

/// Control whose refresh waits for finish().
struct SlowControl : FakeControl {
  std::vector<std::function<void()>> waiting;
  void refresh(std::function<void()> then) override { waiting.push_back(std::move(then)); }
  void finish() {
    for (const auto& then : std::exchange(waiting, {})) then();
  }
};

struct Endpoint {
  Endpoint() {
    control.host.host = "alpha";
    control.host.state = HostState::quiet;
    control.host.has_redis = false;
    ListStatus list;
    list.prefix = "films";
    list.quarantined = 2;
    control.lists.push_back(list);
    problems.add_to(router);
  }
  std::shared_ptr<FakeReply> get() {
    auto reply = std::make_shared<FakeReply>();
    HttpRequest request;
    request.method = "GET";
    request.path = {"api", "v1", "problems"};
    router.handle(request, reply);
    return reply;
  }

  loop::Loop loop;
  SlowControl control;
  QueryRunner queries{
      loop,
      {[] { return redis::ClientOptions(); }, [] { return std::make_shared<const Config>(); }}};
  ProblemsEndpoint problems{loop, queries, control};
  Router router;
};

}  // namespace

TEST_CASE("the problems of a host are those of its status, the most severe first") {
  Endpoint endpoint;
  const auto reply = endpoint.get();
  CHECK(reply->sent == 0);
  endpoint.control.finish();
  REQUIRE(reply->sent == 1);
  CHECK(reply->response.status == 200);
  const Json json = Json::parse(reply->response.body);
  REQUIRE(json["problems"].size() == 2);
  CHECK(json["problems"][0]["kind"] == "quarantined");
  CHECK(json["problems"][0]["text"] == "2 items are quarantined in films");
  CHECK(json["problems"][0]["first_lists"] == Json::parse(R"([{"list": "films"}])"));
  CHECK(json["problems"][1]["kind"] == "quiet");
  CHECK(!json.contains("fleet_error"));
  CHECK(json["max_age_ms"].get<int>() >= 900);
}

TEST_CASE("all clients share one query of the problems and its response") {
  Endpoint endpoint;
  const auto first = endpoint.get();
  const auto second = endpoint.get();
  CHECK(endpoint.control.waiting.size() == 1);
  endpoint.control.finish();
  CHECK(first->sent == 1);
  CHECK(second->sent == 1);
  endpoint.control.lists.clear();
  const auto third = endpoint.get();  // within the pause after the query
  CHECK(endpoint.control.waiting.empty());
  REQUIRE(third->sent == 1);
  CHECK(third->response.body == first->response.body);
}

TEST_CASE("a host that cannot reach Redis reports no error of the fleet") {
  Endpoint endpoint;
  endpoint.control.host.has_redis = true;
  endpoint.control.host.redis.connected = false;
  endpoint.control.host.redis.error = "refused";
  const auto reply = endpoint.get();
  endpoint.control.finish();
  REQUIRE(reply->sent == 1);
  const Json json = Json::parse(reply->response.body);
  CHECK(json["problems"][0]["text"] == "Redis unavailable: refused");
  CHECK(!json.contains("fleet_error"));
}

TEST_CASE("if the fleet cannot be read, the response has the problems of the host") {
  Endpoint endpoint;
  endpoint.control.host.has_redis = true;
  endpoint.control.host.redis.connected = true;
  endpoint.queries.stop();  // refuses each query
  const auto reply = endpoint.get();
  endpoint.control.finish();
  REQUIRE(reply->sent == 1);
  const Json json = Json::parse(reply->response.body);
  CHECK(json["problems"].size() == 2);
  CHECK(json["fleet_error"] == "w8yd is shutting down");
}

TEST_CASE("a shared response does not keep an error") {
  loop::Loop loop;
  SharedResponse shared(loop);
  const auto first = std::make_shared<FakeReply>();
  CHECK(shared.send_to(first));
  CHECK(shared.busy());
  shared.finish(error_response(503, "busy"));
  CHECK(first->response.status == 503);
  CHECK(!shared.busy());
  const auto second = std::make_shared<FakeReply>();
  CHECK(shared.send_to(second));
  HttpResponse good;
  good.body = R"({"n":1)";
  shared.finish(std::move(good));
  CHECK(Json::parse(second->response.body)["max_age_ms"].get<int>() >= 900);
  const auto third = std::make_shared<FakeReply>();
  CHECK(!shared.send_to(third));
  CHECK(third->response.body == second->response.body);
}

}  // namespace problems_endpoint_test

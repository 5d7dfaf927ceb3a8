#include "api_support.hpp"
#include "http/target.hpp"
#include "raw_client.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::string_literals;

namespace api_orders_test {

TEST_CASE("POST requests call the commands of the host") {
  ApiFixture f;
  f.with_client([&](HttpClient& client) {
    CHECK(client.post("/api/v1/quiet", "").status == 200);
    CHECK(f.control.called == "quiet");
    CHECK(client.post("/api/v1/resume", "{}").status == 200);
    CHECK(f.control.called == "resume");
    CHECK(client.post("/api/v1/drain", "").status == 202);
    CHECK(f.control.called == "drain");
    CHECK(client.get("/api/v1/quiet").status == 405);
    CHECK(client.post("/api/v1/cancel", R"({"run":"01HV"})").status == 200);
    CHECK(f.control.called == "cancel 01HV");
    const HttpResult unknown = client.post("/api/v1/cancel", R"({"run":"x"})");
    CHECK(unknown.status == 404);
    CHECK(body_of(unknown)["error"] == "there is no such run");
  });
}

TEST_CASE("an item of any bytes can be run") {
  ApiFixture f;
  f.with_client([&](HttpClient& client) {
    core::AsciiObject order;
    order.put_bytes("list", "media:thumbs");
    order.put_bytes("item", "\xff\0\n"s);
    const HttpResult result = client.post("/api/v1/run", order.finish());
    CHECK(result.status == 200);
    CHECK(body_of(result)["run"] == "01HV");
    CHECK(f.control.called == "run media:thumbs|\xff\0\n"s);
  });
}

TEST_CASE("bodies without the required members are refused with 400") {
  ApiFixture f;
  f.with_client([&](HttpClient& client) {
    const std::string deep(1000000, '[');
    for (const std::string& body :
         {""s, "{}"s, "[]"s, "null"s, "x"s, "\xff"s, R"({"run":1})"s, R"({"list":"a"})"s,
          R"({"item":"a"})"s, R"({"list":"a","item":"b","item_base64":"YQ=="})"s, deep}) {
      CHECK(client.post("/api/v1/cancel", body).status == 400);
      CHECK(client.post("/api/v1/run", body).status == 400);
    }
    CHECK(f.control.called.empty());
  });
}

TEST_CASE("the response to a reload is sent at its end, with all config errors") {
  ApiFixture f;
  const RawClient client(f.path());
  client.send("POST /api/v1/reload HTTP/1.0\r\nContent-Length: 0\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return static_cast<bool>(f.control.reload_answer); }));
  f.control.reload_answer(
      {CommandResult::Kind::invalid, "2 mistakes", {"w8y.toml:1:1: x", "w8y.toml:2:1: y"}, {}});
  std::string answer;
  beside(f.loop, [&] { answer = client.receive(); });
  CHECK(answer.find(" 422 ") == 8);
  const Json json = Json::parse(answer.substr(answer.find("\r\n\r\n")));
  CHECK(json["error"] == "2 mistakes");
  CHECK(json["lines"].size() == 2);
}

TEST_CASE("commands to one or all other hosts have a response with replies and missing replies") {
  ApiFixture fixture;
  FleetReply answer;
  answer.host = "beta";
  answer.host_id = "beta-1";
  answer.result = "done";
  answer.text = "quiet now";
  answer.runs.emplace_back().status.run = "01HV";
  fixture.fleet.outcome.replies = {answer};
  fixture.with_client([&](HttpClient& client) {
    const HttpResult done = client.post("/api/v1/quiet?host=beta", R"({"by":"jo on gamma"})");
    CHECK(done.status == 200);
    CHECK(fixture.fleet.given.kind == FleetCommandKind::quiet);
    CHECK(fixture.fleet.given.host == "beta");
    CHECK(fixture.fleet.given.by == "jo on gamma");
    CHECK(fixture.control.called.empty());
    const Json json = body_of(done);
    CHECK(json["all_done"] == true);
    CHECK(json["hosts"][0]["host"] == "beta");
    CHECK(json["hosts"][0]["text"] == "quiet now");

    CHECK(client.post("/api/v1/cancel?all=yes", R"({"run":"01HV"})").status == 200);
    CHECK(fixture.fleet.given.kind == FleetCommandKind::cancel);
    CHECK(fixture.fleet.given.host.empty());
    CHECK(fixture.fleet.given.run == "01HV");
    for (const char* path : {"/api/v1/drain", "/api/v1/reload", "/api/v1/resume"}) {
      CHECK(client.post(path + "?all=yes"s, "").status == 200);
      CHECK(path == "/api/v1/"s + command_name(fixture.fleet.given.kind));
    }
    for (const char* query : {"?host=", "?all=no", "?host=a&all=yes"})
      CHECK(client.post("/api/v1/drain"s + query, "").status == 400);
    CHECK(fixture.control.called.empty());

    const Json runs = body_of(client.get("/api/v1/fleet/runs?run=01&host=beta"));
    CHECK(fixture.fleet.given.kind == FleetCommandKind::runs);
    CHECK(fixture.fleet.given.run == "01");
    CHECK(runs["hosts"][0]["runs"][0]["run"] == "01HV");
  });
  fixture.fleet.outcome.no_reply.push_back({"gamma", "gamma-1", true, WallTime(5)});
  fixture.with_client([&](HttpClient& client) {
    const HttpResult some = client.post("/api/v1/quiet?all=yes", "");
    CHECK(some.status == 409);
    CHECK(body_of(some)["no_reply"][0]["host"] == "gamma");
    CHECK(body_of(some)["no_reply"][0]["unresponsive"] == true);
    CHECK(client.get("/api/v1/fleet/runs").status == 200);
  });
  fixture.fleet.outcome.error = "no such host";
  fixture.fleet.outcome.not_found = true;
  fixture.with_client([&](HttpClient& client) {
    CHECK(client.post("/api/v1/quiet?host=x", "").status == 404);
    fixture.fleet.outcome.unreachable = true;
    CHECK(client.get("/api/v1/fleet/runs").status == 503);
  });
}

}  // namespace api_orders_test

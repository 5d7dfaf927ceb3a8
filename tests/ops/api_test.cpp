#include "api/host_routes.hpp"
#include "api_support.hpp"
#include "http/target.hpp"
#include "raw_client.hpp"
#include "server_sent_events.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::string_literals;

namespace api_test {

TEST_CASE("secrets are compared and never returned") {
  ApiFixture f;
  f.with_client([&](HttpClient& client) {
    const std::string path = "/api/v1/config/compare";
    const SecretQuestions questions{"salt",
                                    {{"a\xff", "env.B",
                                      secret_digest("salt",
                                                    "a\xff"
                                                    "env.B")},
                                     {"a", "env.B", secret_digest("other", "aenv.B")},
                                     {std::nullopt, "url.password", "0"}}};
    const HttpResult result = client.post(path, to_json(questions));
    CHECK(result.status == 200);
    CHECK(body_of(result)["secrets"] == Json({"same", "changed", "none"}));
    for (const char* body :
         {"", "[]", "{}", R"({"secrets": []})", R"({"salt": 1, "secrets": []})",
          R"({"salt": "s", "secrets": {}})", R"({"salt": "s", "secrets": [1]})",
          R"({"salt": "s", "secrets": [{"key": "k"}]})",
          R"({"salt": "s", "secrets": [{"key": "k", "digest": "d", "list": 3}]})"}) {
      CAPTURE(body);
      CHECK(client.post(path, body).status == 400);
    }
  });
}

TEST_CASE("problems come first, and list state is refreshed on each request") {
  ApiFixture f;
  f.control.lists[0].quarantined = 3;
  f.control.lists[1].pause = Pause{"new disks", "jo on web1", WallTime(1), WallTime(0)};
  f.with_client([&](HttpClient& client) {
    const auto text = client.get("/api/v1/status").body;
    CHECK(text.starts_with(R"({"problems":[{"kind":"quarantined",)"));
    const Json status = Json::parse(text);
    CHECK(status["problems"][0]["count"] == 3);
    CHECK(status["problems"][0]["first_lists"][0]["list_base64"] == "YS9i/w==");
    CHECK(status["problems"][1]["kind"] == "paused");
    CHECK(status["lists"][0]["quarantined"] == 3);
    CHECK(status["lists"][1]["quarantined"].is_null());
    CHECK(status["lists"][1]["pause"]["by"] == "jo on web1");
    CHECK(status["lists"][1]["pause"]["until_ms"].is_null());
    client.get("/api/v1/lists");
    client.get("/api/v1/lists/second");
    const Json host = body_of(client.get("/api/v1/status?lists=no"));
    CHECK(host["host"] == "alpha");
    CHECK_FALSE(host.contains("lists"));
  });
  CHECK(f.control.refreshed == 3);
}

TEST_CASE("list totals replace the lists if the request asks for a count only") {
  ApiFixture f;
  f.control.lists[0].state = ListState::paused;
  f.control.lists[0].quarantined = 2;
  f.control.lists[1].state = ListState::running;
  f.control.lists[1].running = 3;
  f.control.lists[1].counters.leases_lost = 5;
  RunStatus run;
  run.lease_lost = true;
  f.control.lists[1].runs = {run};
  f.with_client([&](HttpClient& client) {
    const Json status = body_of(client.get("/api/v1/status?lists=count"));
    CHECK(status["host"] == "alpha");
    CHECK_FALSE(status.contains("lists"));
    CHECK(status["problems"][0]["count"] == 2);
    CHECK(status["here"] == Json::parse(R"({"lists": 2, "states": {"paused": 1, "running": 1},
      "running": 3, "leases_lost": 5, "leases_lost_now": 1})"));
    CHECK(body_of(client.get("/api/v1/status"))["here"] == status["here"]);
  });
}

TEST_CASE("numbers of a list are of the fleet, and those of this host are in here") {
  ApiFixture f;
  f.control.host.slots_limit = 4;
  f.control.host.slots_used = 1;
  f.control.lists[0].running = 1;
  f.control.lists[0].state = ListState::running;
  ListStatus other;
  other.state = ListState::running;
  other.running = 2;
  other.concurrency = 3;
  f.fleet.others.lists[f.control.lists[0].prefix].add("beta", other);
  f.fleet.others.lists["theirs"].add("beta", other);
  f.fleet.others.states = {{"quiet", 1}};
  f.fleet.others.slots_limit = 8;
  f.fleet.others.slots_used = 4;
  f.with_client([&](HttpClient& client) {
    const Json answer = body_of(client.get("/api/v1/lists"));
    CHECK(answer["fleet"] == Json::parse(R"({"hosts": {"quiet": 1, "running": 1},
      "omitted_hosts": 0, "error": "", "slots": {"limit": 12, "used": 5}, "lists": 3,
      "states": {"probing": 1, "running": 2}, "running": 5})"));
    CHECK(answer["here"]["running"] == 1);
    const Json& both = answer["lists"][0];
    CHECK(both["running"] == 3);
    CHECK(both["slots"] == 4);
    CHECK(both["hosts"] == 2);
    CHECK(both["here"]["running"] == 1);
    CHECK(answer["lists"][1]["hosts"] == 1);
    CHECK(answer["lists"][2]["list"] == "theirs");
    CHECK(answer["lists"][2]["running"] == 2);
    CHECK(answer["lists"][2]["here"].is_null());
    CHECK(body_of(client.get("/api/v1/lists/theirs"))["slots"] == 3);
    CHECK(client.get("/api/v1/lists/nobodys").status == 404);
    f.fleet.others = {};
    f.fleet.others.error = "Redis is unavailable";
    CHECK(body_of(client.get("/api/v1/lists"))["fleet"]["error"] == "Redis is unavailable");
  });
}

TEST_CASE("the runs of a list are those of one count of its items") {
  ApiFixture f;
  ListStatus& list = f.control.lists[1];
  list.state = ListState::running;
  list.running = 1;
  list.stats.emplace().items = {{"length", 9}, {"free", 2}, {"running", 4}, {"delayed", 3}};
  f.fleet.others.lists[list.prefix].add("beta", list);
  f.with_client([&](HttpClient& client) {
    const Json shown = body_of(client.get("/api/v1/lists"))["lists"][1];
    CHECK(shown["running"] == 4);  // not the sum of reports of different times
    CHECK(shown["items"]["running"] == 4);
    f.control.counted = list.stats;
    f.control.counted->items = {{"length", 9}, {"free", 1}, {"running", 5}, {"delayed", 3}};
    const Json one = body_of(client.get("/api/v1/lists/second"));
    CHECK(one["running"] == 5);
    CHECK(one["items"]["free"] == 1);
    CHECK(one["here"]["running"] == 1);
  });
}

TEST_CASE("paths for reading return the status, lists and config") {
  ApiFixture f;
  f.with_client([&](HttpClient& client) {
    CHECK(client.get("/healthz").status == 200);
    f.control.stuck_by = "lease renewals are overdue";
    CHECK(client.get("/healthz").status == 503);
    CHECK(body_of(client.get("/readyz"))["error"] == f.control.stuck_by);
    f.control.stuck_by.clear();
    const Json status = body_of(client.get("/api/v1/status"));
    CHECK(status["host"] == "alpha");
    CHECK(status["lists"].size() == 2);
    CHECK(status["lists"][1]["list"] == "second");
    const Json lists = body_of(client.get("/api/v1/lists"));
    CHECK(lists.size() == 4);
    CHECK(lists["lists"] == status["lists"]);
    CHECK(lists["fleet"] == status["fleet"]);
    CHECK(lists["problems"] == status["problems"]);
    const HttpResult list = client.get(make_path({"api", "v1", "lists", "a/b\xff"}));
    CHECK(list.status == 200);
    CHECK(body_of(list)["list_base64"] == "YS9i/w==");
    CHECK(client.get("/api/v1/lists/a").status == 404);
    CHECK(client.get("/api/v1/lists/").status == 404);
    const Json config = body_of(client.get("/api/v1/config"));
    const Json one = body_of(client.get("/api/v1/config?list=work"));
    CHECK(one["lists"].size() == 1);
    CHECK(one["redis"] == config["redis"]);
    CHECK(client.get("/api/v1/config?list=none").status == 404);
    // The response for a single list has its cycle times of the last hours. The response for all
    // lists does not.
    ListStats stats;
    stats.cycles = {{2'000'000, WallTime(90'000)}, {2'000'002, WallTime(80'000)}};
    f.control.lists[1].stats = stats;
    CHECK(body_of(client.get("/api/v1/lists/second"))["cycles"] ==
          Json::parse(R"([{"at_ms":1800000000000,"cycle_ms":90000},)"
                      R"({"at_ms":1800001800000,"cycle_ms":80000}])"));
    CHECK_FALSE(body_of(client.get("/api/v1/lists"))["lists"][1].contains("cycles"));
    CHECK(config["redis"]["url"] == "redis://localhost");
    CHECK(config["lists"][0]["settings"]["concurrency"] == "4");
    CHECK(client.post("/api/v1/status", "").status == 405);
    f.control.lists.clear();
    CHECK(body_of(client.get("/api/v1/status"))["lists"] == Json::array());
    CHECK(body_of(client.get("/api/v1/lists"))["lists"] == Json::array());
  });
}

TEST_CASE("readiness depends on Redis and the state of the host") {
  ApiFixture f;
  const auto ready = [&] {
    HttpResult result;
    f.with_client([&](HttpClient& client) { result = client.get("/readyz"); });
    return result;
  };
  CHECK(ready().status == 200);
  f.control.host.redis.connected = false;
  f.control.host.redis.error = "Connection refused";
  CHECK(ready().status == 503);
  CHECK(body_of(ready())["error"] == "no Redis: Connection refused");
  f.control.host.redis.connected = true;
  f.control.host.state = HostState::starting;
  CHECK(ready().status == 503);
  f.control.host.state = HostState::quiet;
  CHECK(ready().status == 200);
}

TEST_CASE("subscribers receive all events, or those of one list") {
  ApiFixture f;
  std::string all_text;
  std::string some_text;
  Timer timer(f.loop.timers());
  std::function<void()> feed = [&] {
    if (f.events.subscribers() < 2) {
      timer.set(f.loop.now() + std::chrono::milliseconds(1), feed);
      return;
    }
    f.events.on_event(RunStarted{{"work", "01", "a\nb"}, 7, 1, 5});
    f.events.on_event(RunLogged{{"work", "01", "a"}, "for the log only", false});
    f.events.on_event(RunStarted{{"other", "02", "x"}, 8, 1, 6});
    f.events.on_event(HostChanged{HostState::quiet, ""});
  };
  feed();
  beside(f.loop, [&] {
    const RawClient every(f.path());
    const RawClient of_list(f.path());
    every.send("GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
    of_list.send("GET /api/v1/events?list=work HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto until_host = [](const RawClient& client) {
      const std::string before = client.receive_until("event: host");
      return before + client.receive_until("\n\n");
    };
    all_text = until_host(every);
    some_text = until_host(of_list);
  });
  CHECK(all_text.starts_with("HTTP/1.1 200 "));
  const auto all = events_in(all_text);
  const auto some = events_in(some_text);
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "start");
  CHECK(Json::parse(all[0].data)["item"] == "a\nb");
  CHECK(all[1].name == "start");
  CHECK(all[2].name == "host");
  REQUIRE(some.size() == 2);
  CHECK(Json::parse(some[0].data)["list"] == "work");
  CHECK(some[1].name == "host");
  CHECK(turn_until(f.loop, [&] {
    f.events.on_event(HostChanged{HostState::running, ""});
    return f.events.subscribers() == 0;
  }));
}

TEST_CASE("excess subscribers are refused with 503") {
  ApiFixture f;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<RawClient>(f.path()));
    clients.back()->send("GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  REQUIRE(turn_until(f.loop, [&] { return f.events.subscribers() == 16; }));
  f.with_client([&](HttpClient& client) {
    const HttpResult result = client.get("/api/v1/events");
    CHECK(result.status == 503);
    CHECK(body_of(result)["error"] == "too many event streams are open; close one, or retry later");
  });
}

TEST_CASE("unknown parameters and invalid values are refused") {
  ApiFixture f;
  f.with_client([&](HttpClient& client) {
    const auto why = [&](const HttpResult& result) {
      CHECK(result.status == 400);
      return body_of(result)["error"].get<std::string>();
    };
    CHECK(why(client.get("/api/v1/status?list=a")) ==
          "unknown parameter list; known parameters: lists");
    CHECK(why(client.get("/api/v1/lists?a%0Ab=1")) ==
          "unknown parameter \"a\\nb\"; this path has no parameters");
    CHECK(why(client.get("/api/v1/status?lists=some")) ==
          "?lists= must be no or count; omit it for all lists");
    CHECK(why(client.post("/api/v1/quiet?hosts=a", "")) ==
          "unknown parameter hosts; known parameters: host, all");
    CHECK(f.control.called.empty());
    CHECK(client.get("/healthz?now=1").status == 200);  // parameters are ignored here
  });
}

}  // namespace api_test

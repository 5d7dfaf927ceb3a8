#include "ops/api.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

#include "ops/http_client.hpp"
#include "ops/http_server.hpp"
#include "ops/http_target.hpp"
#include "ops/secret_json.hpp"
#include "ops/status_json.hpp"
#include "ops_support.hpp"
#include "raw_client.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::ops::test;
using namespace std::string_literals;

namespace api_test {
namespace {

struct FakeControl : Control {
  HostStatus host;
  std::string stuck_by;
  std::vector<ListStatus> lists;
  ConfigText text;
  std::string called;
  int refreshed = 0;
  Answer reload_answer;

  void refresh(std::function<void()> then) override {
    ++refreshed;
    then();
  }
  [[nodiscard]] HostStatus status() const override { return host; }
  [[nodiscard]] std::string stuck() const override { return stuck_by; }
  void each_list(std::function<void(const ListStatus&)> look, std::function<void()> then) override {
    for (const ListStatus& list : lists) look(list);
    then();
  }
  [[nodiscard]] std::optional<ListStatus> list(const std::string& prefix) const override {
    for (const ListStatus& one : lists)
      if (one.prefix == prefix) return one;
    return std::nullopt;
  }
  [[nodiscard]] ConfigText config_text() const override { return text; }
  [[nodiscard]] SecretAnswer compare_secret(const SecretQuestion& question,
                                            const std::string& salt) const override {
    if (!question.list) return SecretAnswer::none;
    const bool same = question.digest == secret_digest(salt, *question.list + question.key);
    return same ? SecretAnswer::same : SecretAnswer::changed;
  }
  ControlResult quiet() override { return note("quiet"); }
  ControlResult resume() override { return note("resume"); }
  ControlResult drain() override {
    note("drain");
    return {ControlResult::Kind::accepted, "draining", {}, {}};
  }
  void reload(Answer answer) override { reload_answer = std::move(answer); }
  ControlResult cancel(const RunId& run) override {
    note("cancel " + run);
    if (run == "01HV") return {};
    return {ControlResult::Kind::not_found, "there is no such run", {}, {}};
  }
  void run_item(const std::string& prefix, const Item& item, Answer answer) override {
    note("run " + prefix + "|" + item);
    answer({ControlResult::Kind::done, "", {}, "01HV"});
  }

 private:
  ControlResult note(const std::string& what) {
    called = what;
    return {};
  }
};

struct FakeFleet : FleetPort {
  FleetView view;
  FleetOutcome outcome;
  FleetOrder given;

  void give(FleetOrder order, Given then) override {
    given = std::move(order);
    then(outcome);
  }

  void look(bool lists, Seen then) override {
    FleetView seen = view;
    if (!lists)
      for (FleetHost& host : seen.hosts) host.lists.clear();
    then(seen);
  }
};

struct Fixture {
  Fixture() {
    control.host.host = "alpha";
    control.host.state = HostState::running;
    control.host.redis.connected = true;
    ListStatus list;
    list.prefix = "a/b\xff";
    list.why = "why";
    control.lists.push_back(list);
    list.prefix = "second";
    control.lists.push_back(list);
    control.text.redis["url"] = "redis://localhost";
    control.text.lists["work"]["concurrency"] = "4";
    add_api(router, control, fleet, events);
  }

  /// Does `work` with a client, while the server serves.
  void with_client(const std::function<void(HttpClient&)>& work) {
    beside(loop, [&] {
      HttpClient client(path());
      work(client);
    });
  }
  [[nodiscard]] std::string path() const { return folder / "status.sock"; }

  TempDir folder;
  loop::Loop loop;
  FakeControl control;
  FakeFleet fleet;
  EventHub events{loop, "alpha-1"};
  Router router;
  HttpServer server{loop, path(), router};
};

Json body_of(const HttpResult& result) {
  return Json::parse(result.body);
}

}  // namespace

TEST_CASE("secrets are compared, and not told") {
  Fixture f;
  f.with_client([&](HttpClient& client) {
    const std::string path = "/api/v1/config/compare";
    const SecretQuestions questions{"salt",
                                    {{"a\xff", "env.B",
                                      secret_digest("salt",
                                                    "a\xff"
                                                    "env.B")},
                                     {"a", "env.B", secret_digest("other", "aenv.B")},
                                     {std::nullopt, "url.password", "0"}}};
    const HttpResult result = client.post(path, dump(to_json(questions)));
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

TEST_CASE("what is wrong stands first, and Redis is asked when somebody looks") {
  Fixture f;
  f.control.lists[0].quarantined = 3;
  f.control.lists[1].pause = Pause{"new disks", "jo on web1", WallTime(1), WallTime(0)};
  f.with_client([&](HttpClient& client) {
    const auto text = client.get("/api/v1/status").body;
    CHECK(text.starts_with(R"({"problems":[{"kind":"quarantined",)"));
    const Json status = Json::parse(text);
    CHECK(status["problems"][0]["count"] == 3);
    CHECK(get_bytes(status["problems"][0]["first_lists"][0], "list") == "a/b\xff");
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

TEST_CASE("all lists in figures, where nobody asks for each of them") {
  Fixture f;
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
    CHECK(status["totals"] == Json::parse(R"({"lists": 2, "states": {"paused": 1, "running": 1},
      "running": 3, "leases_lost": 5, "leases_lost_now": 1})"));
    CHECK(body_of(client.get("/api/v1/status"))["totals"] == status["totals"]);
  });
}

TEST_CASE("what can be looked at") {
  Fixture f;
  f.with_client([&](HttpClient& client) {
    CHECK(client.get("/healthz").status == 200);
    f.control.stuck_by = "renewals of locks are overdue";
    CHECK(client.get("/healthz").status == 503);
    CHECK(body_of(client.get("/readyz"))["error"] == f.control.stuck_by);
    f.control.stuck_by.clear();
    const Json status = body_of(client.get("/api/v1/status"));
    CHECK(status["host"] == "alpha");
    CHECK(status["lists"].size() == 2);
    CHECK(status["lists"][1]["list"] == "second");
    const Json lists = body_of(client.get("/api/v1/lists"));
    CHECK(lists.size() == 3);
    CHECK(lists["lists"] == status["lists"]);
    CHECK(lists["totals"] == status["totals"]);
    CHECK(lists["problems"] == status["problems"]);
    const HttpResult list = client.get(make_path({"api", "v1", "lists", "a/b\xff"}));
    CHECK(list.status == 200);
    CHECK(body_of(list)["list_base64"] == "YS9i/w==");
    CHECK(client.get("/api/v1/lists/a").status == 404);
    CHECK(client.get("/api/v1/lists/").status == 404);
    const Json config = body_of(client.get("/api/v1/config"));
    CHECK(config["redis"]["url"] == "redis://localhost");
    CHECK(config["lists"][0]["settings"]["concurrency"] == "4");
    CHECK(client.post("/api/v1/status", "").status == 405);
    f.control.lists.clear();
    CHECK(body_of(client.get("/api/v1/status"))["lists"] == Json::array());
    CHECK(body_of(client.get("/api/v1/lists"))["lists"] == Json::array());
  });
}

TEST_CASE("readiness") {
  Fixture f;
  const auto ready = [&] {
    HttpResult result;
    f.with_client([&](HttpClient& client) { result = client.get("/readyz"); });
    return result;
  };
  CHECK(ready().status == 200);
  f.control.host.redis.connected = false;
  f.control.host.redis.trouble = "Connection refused";
  CHECK(ready().status == 503);
  CHECK(body_of(ready())["error"] == "no Redis: Connection refused");
  f.control.host.redis.connected = true;
  f.control.host.state = HostState::starting;
  CHECK(ready().status == 503);
  f.control.host.state = HostState::quiet;
  CHECK(ready().status == 200);
}

TEST_CASE("orders") {
  Fixture f;
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
  Fixture f;
  f.with_client([&](HttpClient& client) {
    Json order = Json::object();
    put_bytes(order, "list", "media:thumbs");
    put_bytes(order, "item", "\xff\0\n"s);
    const HttpResult result = client.post("/api/v1/run", dump(order));
    CHECK(result.status == 200);
    CHECK(body_of(result)["run"] == "01HV");
    CHECK(f.control.called == "run media:thumbs|\xff\0\n"s);
  });
}

TEST_CASE("bodies that say nothing useful") {
  Fixture f;
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

TEST_CASE("a reload answers when it is over, with every mistake") {
  Fixture f;
  const RawClient client(f.path());
  client.send("POST /api/v1/reload HTTP/1.0\r\nContent-Length: 0\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return static_cast<bool>(f.control.reload_answer); }));
  f.control.reload_answer(
      {ControlResult::Kind::invalid, "2 mistakes", {"w8y.toml:1:1: x", "w8y.toml:2:1: y"}, {}});
  std::string answer;
  beside(f.loop, [&] { answer = client.receive(); });
  CHECK(answer.find(" 422 ") == 8);
  const Json json = Json::parse(answer.substr(answer.find("\r\n\r\n")));
  CHECK(json["error"] == "2 mistakes");
  CHECK(json["lines"].size() == 2);
}

TEST_CASE("events reach those who listen, those of one list if they like") {
  Fixture f;
  std::vector<ServerSentEvent> all;
  std::vector<ServerSentEvent> some;
  Timer timer(f.loop.timers());
  std::function<void()> feed = [&] {
    if (f.events.subscribers() < 2) {
      timer.set(f.loop.now() + std::chrono::milliseconds(1), feed);
      return;
    }
    f.events.on_event(RunStarted{{"work", "01", "a\nb"}, 7, 1, 5});
    f.events.on_event(RunSaid{{"work", "01", "a"}, "for the log only", false});
    f.events.on_event(RunStarted{{"other", "02", "x"}, 8, 1, 6});
    f.events.on_event(HostChanged{HostState::quiet, ""});
  };
  feed();
  beside(f.loop, [&] {
    std::thread other([&] {
      HttpClient client(f.path());
      client.events("/api/v1/events?list=work", [&](const ServerSentEvent& event) {
        some.push_back(event);
        return some.size() < 2;
      });
    });
    HttpClient client(f.path());
    const HttpResult result = client.events("/api/v1/events", [&](const ServerSentEvent& event) {
      all.push_back(event);
      return all.size() < 3;
    });
    CHECK(result.status == 200);
    CHECK(result.problem.empty());
    other.join();
  });
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

TEST_CASE("listeners are bounded, and told so") {
  Fixture f;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<RawClient>(f.path()));
    clients.back()->send("GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  REQUIRE(turn_until(f.loop, [&] { return f.events.subscribers() == 16; }));
  f.with_client([&](HttpClient& client) {
    const HttpResult result = client.events("/api/v1/events", [](const auto&) { return true; });
    CHECK(result.status == 503);
    CHECK(body_of(result)["error"] == "too many clients listen to events");
  });
}

TEST_CASE("the fleet: each host, and what it tells of its lists") {
  Fixture fixture;
  fixture.fleet.view.fleet = "w8y-fleet";
  fixture.fleet.view.now = WallTime(1'000'000);
  FleetHost host;
  host.beat.host = "alpha";
  host.beat.id = "alpha-0123abcd";
  host.beat.state = "running";
  host.beat.config_hash = "abc";
  host.beat.lease_margin = WallTime(3000);
  host.last_beat = WallTime(999'000);
  ListBeat list;
  list.prefix = "a\xff";
  list.state = "refused";
  list.why = "lacks \"gpu\"";
  host.lists.push_back(list);
  fixture.fleet.view.hosts.push_back(host);
  fixture.with_client([&](HttpClient& client) {
    const HttpResult all = client.get("/api/v1/fleet");
    CHECK(all.status == 200);
    const Json json = body_of(all);
    CHECK(json["fleet"] == "w8y-fleet");
    CHECK(json["now_ms"] == 1'000'000);
    REQUIRE(json["hosts"].size() == 1);
    const Json& shown = json["hosts"][0];
    CHECK(shown["host"] == "alpha");
    CHECK(shown["state"] == "running");
    CHECK(shown["last_beat_ms"] == 999'000);
    CHECK(shown["silent_since_ms"].is_null());
    CHECK(shown["lease_margin_ms"] == 3000);
    CHECK(shown["least_lease_margin_ms"].is_null());
    REQUIRE(shown["lists"].size() == 1);
    CHECK(get_bytes(shown["lists"][0], "list") == "a\xff");
    CHECK(shown["lists"][0]["why"] == "lacks \"gpu\"");

    const Json heads = body_of(client.get("/api/v1/fleet?lists=no"));
    CHECK_FALSE(heads["hosts"][0].contains("lists"));
  });
  fixture.fleet.view.trouble = "w8y-fleet:hosts: WRONGTYPE";
  fixture.with_client([&](HttpClient& client) {
    const HttpResult refused = client.get("/api/v1/fleet");
    CHECK(refused.status == 409);
    CHECK(body_of(refused)["error"] == "w8y-fleet:hosts: WRONGTYPE");
  });
  fixture.fleet.view.unreachable = true;
  fixture.with_client(
      [&](HttpClient& client) { CHECK(client.get("/api/v1/fleet").status == 503); });
}

TEST_CASE("orders to other hosts: to one or all, and who has not done it") {
  Fixture fixture;
  FleetAnswer answer;
  answer.host = "beta";
  answer.host_id = "beta-1";
  answer.result = "done";
  answer.text = "quiet now";
  answer.runs = {R"({"run":"01HV"})"};
  fixture.fleet.outcome.answers = {answer};
  fixture.with_client([&](HttpClient& client) {
    const HttpResult done = client.post("/api/v1/quiet?host=beta", R"({"by":"jo on gamma"})");
    CHECK(done.status == 200);
    CHECK(fixture.fleet.given.kind == OrderKind::quiet);
    CHECK(fixture.fleet.given.host == "beta");
    CHECK(fixture.fleet.given.by == "jo on gamma");
    CHECK(fixture.control.called.empty());
    const Json json = body_of(done);
    CHECK(json["complete"] == true);
    CHECK(json["hosts"][0]["host"] == "beta");
    CHECK(json["hosts"][0]["text"] == "quiet now");

    CHECK(client.post("/api/v1/cancel?all=yes", R"({"run":"01HV"})").status == 200);
    CHECK(fixture.fleet.given.kind == OrderKind::cancel);
    CHECK(fixture.fleet.given.host.empty());
    CHECK(fixture.fleet.given.run == "01HV");
    for (const char* path : {"/api/v1/drain", "/api/v1/reload", "/api/v1/resume"}) {
      CHECK(client.post(path + "?all=yes"s, "").status == 200);
      CHECK(path == "/api/v1/"s + order_name(fixture.fleet.given.kind));
    }
    for (const char* query : {"?host=", "?all=no", "?host=a&all=yes"})
      CHECK(client.post("/api/v1/drain"s + query, "").status == 400);
    CHECK(fixture.control.called.empty());

    const Json runs = body_of(client.get("/api/v1/fleet/runs?run=01&host=beta"));
    CHECK(fixture.fleet.given.kind == OrderKind::runs);
    CHECK(fixture.fleet.given.run == "01");
    CHECK(runs["hosts"][0]["runs"][0]["run"] == "01HV");
  });
  fixture.fleet.outcome.missing.push_back({"gamma", "gamma-1", true, WallTime(5)});
  fixture.with_client([&](HttpClient& client) {
    const HttpResult some = client.post("/api/v1/quiet?all=yes", "");
    CHECK(some.status == 409);
    CHECK(body_of(some)["missing"][0]["host"] == "gamma");
    CHECK(body_of(some)["missing"][0]["silent"] == true);
    CHECK(client.get("/api/v1/fleet/runs").status == 200);
  });
  fixture.fleet.outcome.trouble = "no such host";
  fixture.fleet.outcome.not_found = true;
  fixture.with_client([&](HttpClient& client) {
    CHECK(client.post("/api/v1/quiet?host=x", "").status == 404);
    fixture.fleet.outcome.unreachable = true;
    CHECK(client.get("/api/v1/fleet/runs").status == 503);
  });
}

}  // namespace api_test

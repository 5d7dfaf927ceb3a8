// Fleet queries on a real server: pages, limits, and invalid values from other programs.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/query_json.hpp"
#include "api/routes.hpp"
#include "operator/fleet.hpp"
#include "operator/query_context.hpp"
#include "ops/api_support.hpp"
#include "support/client_options.hpp"
#include "support/cluster.hpp"
#include "support/redis_server.hpp"
#include "support/waiting.hpp"
#include "view/list_view.hpp"

using namespace w8y;
using namespace w8y::api;
using namespace w8y::test;
using namespace std::string_literals;

namespace fleet_look_test {

using namespace w8y::verbs;

namespace {

/// Fleet that exists only in Redis.
struct Written {
  explicit Written(const std::string& url) : options(options_for(url)), client(loop, options) {}

  std::string host(const std::string& name, const std::string& text = {}) {
    const std::string id = name + "-00000000";
    const auto now = client.pipeline({{"ZCARD", "fleet:hosts"}, {"TIME"}})[1].elements[0].text;
    HostHeartbeat heartbeat;
    heartbeat.host = name;
    heartbeat.state = "running";
    heartbeat.lists_version = 1;
    client.call({"ZADD", "fleet:hosts", now + "000", id});
    client.call({"SET", "fleet:host:" + id, text.empty() ? to_text(heartbeat) : text});
    return id;
  }
  void list(const std::string& id, const std::string& prefix, const std::string& text) {
    client.call({"HSET", "fleet:lists:" + id, prefix, text});
  }
  void lists(const std::string& id, int count, const std::string& text) {
    const std::string key = "fleet:lists:" + id;
    for (int first = 0; first < count; first += 500) {
      std::vector<std::string> names;
      for (int i = first; i < std::min(first + 500, count); ++i)
        names.push_back("list-" + std::to_string(100'000 + i));
      redis::Command set{"HSET", key};
      for (const std::string& name : names) {
        set.push_back(name);
        set.push_back(text);
      }
      client.call(set);
    }
  }
  QueryContext query() { return {client, options, nullptr, "fleet"}; }
  nlohmann::json view(const FleetWish& wish = {}) {
    return nlohmann::json::parse(api::fleet_json(query(), wish));
  }

  loop::Loop loop;
  redis::ClientOptions options;
  redis::SyncClient client;
};

std::string report(std::size_t bytes = 0) {
  ListStatus list;
  list.state = ListState::idle;
  list.concurrency = 2;
  list.executor_version = std::string(bytes, 'x');
  std::string text = view::to_json(list, view::report);
  const auto at = text.find("\"executor_version\":\"");
  const auto end = text.find('"', at + 20);
  return text.replace(at + 20, end - at - 20, std::string(bytes, 'x'));
}

const nlohmann::json* find(const nlohmann::json& view, const std::string& name) {
  for (const nlohmann::json& host : view["hosts"])
    if (host["host"] == name) return &host;
  return nullptr;
}

/// Returns the response to a request, from a QueryRunner as in w8yd.
struct Api {
  struct Reply : http::HttpReply {
    explicit Reply(Api& of) : api(of) {}
    void send(http::HttpResponse response) override { api.answers.push_back(std::move(response)); }
    std::shared_ptr<http::HttpStream> stream(std::string, std::string) override { return nullptr; }
    Api& api;
  };

  explicit Api(std::string url)
      : queries(loop, {[url] { return options_for(url); },
                       [] {
                         Config config;
                         config.supervisor.fleet = "fleet";
                         return std::make_shared<const Config>(config);
                       }}) {
    api::add_fleet_view({router, queries, control, fleet});
  }
  void ask(std::map<std::string, std::string> query, bool over_tcp) {
    http::HttpRequest request;
    request.method = "GET";
    request.path = {"api", "v1", "fleet"};
    request.query = std::move(query);
    request.over_tcp = over_tcp;
    router.handle(request, std::make_shared<Reply>(*this));
  }
  http::HttpResponse answer(std::map<std::string, std::string> query, bool over_tcp) {
    answers.clear();
    ask(std::move(query), over_tcp);
    REQUIRE(turn_until(loop, [&] { return !answers.empty(); }));
    return answers.front();
  }

  std::vector<http::HttpResponse> answers;
  loop::Loop loop;
  ops::test::FakeControl control;
  ops::test::FakeFleet fleet;
  http::Router router;
  QueryRunner queries;
};

}  // namespace

TEST_CASE("fleet view: hosts are shown with all their lists, with one list, or without lists") {
  const RedisServer server;
  Written fleet(server.url());
  const std::string alpha = fleet.host("alpha");
  fleet.list(alpha, "b", report());
  fleet.list(alpha, "a*", report());
  fleet.list(alpha, "aa", report());
  fleet.list(alpha, "c\xff", report());
  fleet.host("beta");

  const nlohmann::json all = fleet.view();
  CHECK(all["fleet"] == "fleet");
  CHECK(all["now_ms"].get<std::int64_t>() > 0);
  CHECK_FALSE(all["truncated"].get<bool>());
  CHECK(all["next"].is_null());
  REQUIRE(all["hosts"].size() == 2);
  const nlohmann::json& first = all["hosts"][0];
  CHECK(first["host"] == "alpha");
  CHECK(first["state"] == "running");
  CHECK(first["unresponsive_since_ms"].is_null());
  CHECK(first["lists_error"] == "");
  CHECK_FALSE(first["lists_truncated"].get<bool>());
  REQUIRE(first["lists"].size() == 4);
  CHECK(first["lists"][0]["list"] == "a*");
  CHECK(first["lists"][1]["list"] == "aa");
  CHECK(first["lists"][2]["list"] == "b");
  CHECK(first["lists"][3]["list_base64"] == "Y/8=");
  CHECK(first["lists"][0]["concurrency"] == 2);
  CHECK(first["lists"][0]["caps"] == nlohmann::json::array());
  CHECK(all["hosts"][1]["lists"].empty());

  const nlohmann::json one = fleet.view({true, "a*", {}});
  REQUIRE(one["hosts"][0]["lists"].size() == 1);
  CHECK(one["hosts"][0]["lists"][0]["list"] == "a*");
  CHECK(one["hosts"][1]["lists"].empty());

  const long long before = server.calls("hscan");
  const nlohmann::json none = fleet.view({false, {}, {}});
  CHECK_FALSE(none["hosts"][0].contains("lists"));
  CHECK(server.calls("hscan") == before);

  server.command({"DEL", "fleet:hosts"});
  server.command({"SET", "fleet:hosts", "x"});
  CHECK_THROWS_WITH_AS(fleet.view(), doctest::Contains("fleet:hosts: WRONGTYPE"),
                       verbs::QueryError);
}

TEST_CASE("fleet view: a page ends at its limit, and the next one continues after it") {
  const RedisServer server;
  Written fleet(server.url());
  std::set<std::string> names;
  for (int i = 0; i < 7; ++i) {
    const std::string id = fleet.host("host" + std::to_string(i));
    names.insert("host" + std::to_string(i));
    fleet.lists(id, 3, report());
  }
  FleetWish wish{true, {}, {}, {3, {}}};
  std::set<std::string> seen;
  for (int part = 0; part < 3; ++part) {
    const nlohmann::json json = fleet.view(wish);
    for (const nlohmann::json& host : json["hosts"]) {
      CHECK(host["lists"].size() == 3);
      CHECK(seen.insert(host["host"].get<std::string>()).second);
    }
    CHECK(json["next"].is_null() == (part == 2));
    if (part < 2) wish.part.after = json["next"].get<std::string>();
    // Hosts that join or leave do not move the other hosts to another page.
    if (part == 0) server.command({"ZREM", "fleet:hosts", "host0-00000000"});
  }
  CHECK(seen == names);
  wish.part.after = "bm9uc2Vuc2U";
  CHECK_THROWS_AS(fleet.view(wish), verbs::QueryError);
}

TEST_CASE("fleet view: one host is selected by its name") {
  const RedisServer server;
  Written fleet(server.url());
  for (const char* name : {"web1", "web2", "web3"}) fleet.lists(fleet.host(name), 2, report());
  FleetWish wish;
  wish.host = "web2";
  const nlohmann::json json = fleet.view(wish);
  REQUIRE(json["hosts"].size() == 1);
  CHECK(json["hosts"][0]["host"] == "web2");
  CHECK(json["hosts"][0]["lists"].size() == 2);
  wish.host = "web4";
  CHECK(fleet.view(wish)["hosts"].empty());
}

TEST_CASE("the lists of the fleet are those of all live hosts except the own one") {
  const RedisServer server;
  Written fleet(server.url());
  const std::string own = fleet.host("web1");
  fleet.lists(own, 1, report());
  for (const char* name : {"web2", "web3"}) {
    const std::string id = fleet.host(name);
    fleet.lists(id, 700, report());
    fleet.list(id, "work", report());
  }
  FleetLists all = verbs::fleet_lists(fleet.query(), own, {});
  CHECK(all.lists.size() == 701);
  CHECK(all.states == std::map<std::string, std::size_t>{{"running", 2}});
  CHECK(all.omitted == 0);
  CHECK(all.unlimited);
  ListTotals& work = all.lists.at("work");
  work.finish(std::nullopt);
  CHECK(work.hosts == 2);
  CHECK(work.slots == 4);
  const FleetLists one = verbs::fleet_lists(fleet.query(), own, "work");
  CHECK(one.lists.size() == 1);
  CHECK(one.lists.at("work").hosts == 2);

  // A host with an unreadable report is counted as omitted.
  fleet.list(fleet.host("web4"), "work", "nonsense");
  CHECK(verbs::fleet_lists(fleet.query(), own, {}).omitted == 1);
}

TEST_CASE("fleet view: forged hosts with too many lists are truncated") {
  const RedisServer server;
  Written fleet(server.url());
  const std::string large = report(3900);
  for (int i = 0; i < 3; ++i) fleet.lists(fleet.host("forged" + std::to_string(i)), 5000, large);
  fleet.list(fleet.host("honest"), "work", report());
  FleetWish wish;
  std::size_t parts = 0;
  std::vector<std::string> seen;
  do {
    const std::string text = api::fleet_json(fleet.query(), wish);
    CHECK(text.size() < api::max_fleet_bytes);
    const nlohmann::json json = nlohmann::json::parse(text);
    for (const nlohmann::json& host : json["hosts"]) {
      seen.push_back(host["host"].get<std::string>());
      const bool forged = seen.back() != "honest";
      CHECK(host["lists_truncated"] == forged);
      CHECK(host["lists_error"] == (forged ? "it has more lists than are shown" : ""));
      CHECK(host["lists"].size() >= (forged ? 1000U : 1U));
    }
    wish.part.after = json["next"].is_null() ? "" : json["next"].get<std::string>();
    REQUIRE(++parts < 10);
  } while (!wish.part.after.empty());
  CHECK(parts > 1);
  CHECK(seen == std::vector<std::string>{"forged0", "forged1", "forged2", "honest"});
}

TEST_CASE("fleet view: huge and invalid values are an error of their host only") {
  const RedisServer server;
  Written fleet(server.url());
  fleet.list(fleet.host("honest"), "work", report());
  fleet.host("beat", std::string(2 << 20, 'x'));
  fleet.host("text", "no JSON");
  const std::string reports = fleet.host("reports");
  fleet.list(reports, "work", std::string(2 << 20, '['));
  fleet.list(reports, "good", report());
  server.command({"SET", "fleet:lists:" + fleet.host("type"), "x"});
  // The reply to this key exceeds the limit of a connection.
  server.command({"EVAL",
                  "for i = 1, 140 do redis.call('HSET', KEYS[1], i, string.rep('x', 1048576)) end",
                  "1", "fleet:lists:" + fleet.host("reply")});
  const nlohmann::json json = fleet.view();
  CHECK(json["hosts"].size() == 6);
  CHECK(find(json, "honest")->at("lists").size() == 1);
  CHECK(find(json, "honest")->at("lists_error") == "");
  CHECK(find(json, "beat")->at("state") == "unknown");
  CHECK(find(json, "beat")->at("error") == "its heartbeat has more than 4096 bytes");
  CHECK(find(json, "text")->at("state") == "unknown");
  CHECK(find(json, "reports")->at("lists").size() == 1);
  CHECK(find(json, "reports")->at("lists_error") == "some of its list reports cannot be read");
  const auto error = [&](const char* name) {
    return find(json, name)->at("lists_error").get<std::string>();
  };
  CHECK(error("type").find("WRONGTYPE") != std::string::npos);
  CHECK(error("reply").find("128 MiB") != std::string::npos);

  const nlohmann::json one = fleet.view({true, "work", {}});
  CHECK(find(one, "honest")->at("lists").size() == 1);
  CHECK(find(one, "reports")->at("lists").empty());
  CHECK(find(one, "type")->at("lists_error").get<std::string>().find("WRONGTYPE") !=
        std::string::npos);
}

TEST_CASE("fleet view: keys of a cluster are read from any node") {
  const Cluster cluster;
  Written fleet(cluster.url());
  for (const char* name : {"alpha", "beta", "gamma", "delta"})
    fleet.list(fleet.host(name), "work", report());
  const nlohmann::json json = fleet.view();
  REQUIRE(json["hosts"].size() == 4);
  for (const nlohmann::json& host : json["hosts"]) CHECK(host["lists"].size() == 1);
  CHECK(fleet.view({true, "work", {}})["hosts"][3]["lists"].size() == 1);
}

TEST_CASE("host details for pages: rows and run counts are validated") {
  const RedisServer server;
  Written fleet(server.url());
  const std::string alpha = fleet.host("alpha");
  fleet.list(alpha, "a", report());
  fleet.list(alpha, "bad", "{");
  fleet.list(alpha, std::string(5000, 'n'), report());
  const std::int64_t now = std::stoll(server.command({"TIME"})) / 60;
  const auto put = [&](std::int64_t minute, const std::string& text) {
    server.command({"SET", "fleet:minute:" + alpha + ":" + std::to_string(minute % 60), text});
  };
  const std::string good = R"({"minute":)" + std::to_string(now) + R"(,"runs":5})";
  put(now, good);
  put(now - 1, "no JSON");
  put(now - 2, R"({"minute":"x"})");
  put(now - 3, std::string((64 << 10) + 1, ' '));
  server.command({"RPUSH", "fleet:minute:" + alpha + ":" + std::to_string((now - 4) % 60), "x"});
  const auto hosts = host_details(fleet.query(), {{alpha, true, 60}, {"none-00000000", true, 60}});
  REQUIRE(hosts.size() == 2);
  REQUIRE(hosts[0].rows.size() == 1);
  CHECK(hosts[0].rows[0].second == R"({"list":"a","state":"idle","running":0,"concurrency":2})");
  REQUIRE(hosts[0].minutes.size() == 1);
  CHECK(hosts[0].minutes[0] == std::pair(now, good));
  CHECK(hosts[1].rows.empty());

  // Replies have a limited number of hosts, and each host has at most the rows of a page.
  const std::string many = fleet.host("many");
  fleet.lists(many, 10'050, report());
  const auto some = host_details(fleet.query(), {{many, true, 0}, {alpha, true, 0}});
  CHECK(some.size() <= 2);
  CHECK(some[0].rows.size() == 10'000);
  const std::string large = fleet.host("large");
  const std::string why(3000, 's');
  fleet.lists(large, 1000, R"({"state":"idle","reason":")" + why + "\"}");
  const auto bounded = host_details(fleet.query(), {{large, true, 0}, {alpha, true, 0}});
  REQUIRE(bounded.size() == 1);
  CHECK(bounded[0].rows.size() < 1000);
}

TEST_CASE("GET /api/v1/fleet: lists are sent over TCP only on request, without blocking the loop") {
  const RedisServer server;
  Written fleet(server.url());
  fleet.list(fleet.host("alpha"), "work", report());
  Api api(server.url());
  const auto has_lists = [&](std::map<std::string, std::string> query, bool over_tcp) {
    const http::HttpResponse answer = api.answer(std::move(query), over_tcp);
    CHECK(answer.status == 200);
    return nlohmann::json::parse(answer.body)["hosts"][0].contains("lists");
  };
  CHECK(has_lists({}, false));
  CHECK_FALSE(has_lists({}, true));
  CHECK(has_lists({{"lists", "yes"}}, true));
  CHECK(has_lists({{"list", "work"}}, true));
  CHECK_FALSE(has_lists({{"lists", "no"}}, false));
  CHECK(api.answer({{"lists", "count"}}, false).status == 400);
  CHECK(api.answer({{"limit", "0"}}, false).status == 400);
  CHECK(api.answer({{"after", "x"}}, false).status == 400);

  const std::string large = report(3900);
  for (int i = 0; i < 2; ++i) fleet.lists(fleet.host("forged" + std::to_string(i)), 500, large);
  api.answers.clear();
  api.ask({}, false);
  int ticks = 0;
  Timer tick(api.loop.timers());
  const std::function<void()> again = [&] {
    ++ticks;
    tick.set(api.loop.now() + std::chrono::milliseconds(1), again);
  };
  again();
  REQUIRE(turn_until(api.loop, [&] { return !api.answers.empty(); }));
  CHECK(api.answers.front().body.size() > (1 << 20));
  CHECK(ticks > 10);  // the query takes tens of milliseconds

  server.command({"DEL", "fleet:hosts"});
  server.command({"SET", "fleet:hosts", "x"});
  const http::HttpResponse refused = api.answer({}, false);
  CHECK(refused.status == 409);
  CHECK(refused.body.find("fleet:hosts: WRONGTYPE") != std::string::npos);
}

}  // namespace fleet_look_test

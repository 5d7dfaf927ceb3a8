// Status API with a fake host, fleet and events, behind a real server.
#pragma once

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/host_routes.hpp"
#include "api/routes.hpp"
#include "api/secret_json.hpp"
#include "http/client.hpp"
#include "http/server.hpp"
#include "ops_support.hpp"
#include "redis/url.hpp"

// Declares the namespaces of the using-directives below, because a test may include headers of only
// some of them.
namespace w8y::http {}
namespace w8y::api {}
namespace w8y::page {}

namespace w8y::ops::test {

using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;

using Json = nlohmann::json;

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
  std::optional<ListStats> counted;
  void count_items(const std::string&,
                   std::function<void(const std::optional<ListStats>&)> then) override {
    then(counted);
  }
  [[nodiscard]] std::optional<ListStatus> list(const std::string& prefix) const override {
    for (const ListStatus& one : lists)
      if (one.prefix == prefix) return one;
    return std::nullopt;
  }
  [[nodiscard]] ConfigText config_text(const std::string* list) const override {
    ConfigText shown = text;
    if (list != nullptr)
      std::erase_if(shown.lists, [&](const auto& each) { return each.first != *list; });
    return shown;
  }
  [[nodiscard]] SecretAnswer compare_secret(const SecretQuestion& question,
                                            const std::string& salt) const override {
    if (!question.list) return SecretAnswer::none;
    const bool same = question.digest == secret_digest(salt, *question.list + question.key);
    return same ? SecretAnswer::same : SecretAnswer::changed;
  }
  CommandResult quiet() override { return record("quiet"); }
  CommandResult resume() override { return record("resume"); }
  CommandResult drain() override {
    record("drain");
    return {CommandResult::Kind::accepted, "draining", {}, {}};
  }
  void reload(Answer answer) override { reload_answer = std::move(answer); }
  CommandResult cancel(const RunId& run) override {
    record("cancel " + run);
    if (run == "01HV") return {};
    return {CommandResult::Kind::not_found, "there is no such run", {}, {}};
  }
  void run_item(const std::string& prefix, const Item& item, Answer answer) override {
    record("run " + prefix + "|" + item);
    answer({CommandResult::Kind::done, "", {}, "01HV"});
  }

 private:
  CommandResult record(const std::string& what) {
    called = what;
    return {};
  }
};

struct FakeFleet : FleetControl {
  FleetCommandResult outcome;
  FleetCommand given;

  void send(FleetCommand order, Sent then) override {
    given = std::move(order);
    then(outcome);
  }

  void details(std::vector<view::HostWish>, Detailed then) override { then({}); }

  FleetLists others;
  void lists(std::optional<std::string>, Listed then) override { then(FleetLists(others)); }

  void follow(const std::string& run, HttpReplyPtr reply) override {
    reply->send(error_response(404, "no run " + run));
  }

  void when_changed(std::function<void()>) override {}

  void read(Seen then) override { then({}); }
};

struct ApiFixture {
  ApiFixture() {
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
    add_changes({router, queries, control, fleet});
  }

  /// Runs `work` with a client while the server serves.
  void with_client(const std::function<void(HttpClient&)>& work) {
    beside(loop, [&] {
      HttpClient client(path());
      work(client);
    });
  }
  [[nodiscard]] std::string path() const { return directory / "status.sock"; }

  TempDir directory;
  loop::Loop loop;
  FakeControl control;
  FakeFleet fleet;
  EventHub events{loop, "alpha-1"};
  QueryRunner queries{loop,
                      {[] {
                         redis::ClientOptions options;
                         options.url = redis::parse_url("unix:///nonexistent");
                         return options;
                       },
                       [] { return std::make_shared<const Config>(); }}};
  Router router;
  HttpServer server{loop, path(), router};
};

inline Json body_of(const HttpResult& result) {
  return Json::parse(result.body);
}

}  // namespace w8y::ops::test

#include "api/routes.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/job_endpoint.hpp"
#include "api/problems_endpoint.hpp"
#include "api/ring_endpoint.hpp"
#include "ops/api_support.hpp"
#include "page/live_hub.hpp"
#include "page/page.hpp"

using namespace w8y;

namespace routes_test {
namespace {

/// Names of the parameters by "GET /api/v1/lists/*", of the router and of etc/openapi.json.
/// nullopt: any parameter is allowed.
using Told = std::map<std::string, std::optional<std::set<std::string>>>;

Told of_router(const http::Router& router) {
  Told all;
  for (const auto& route : router.routes()) {
    auto& known = all[std::string(route.endpoint.method) + " " + route.endpoint.pattern];
    if (route.endpoint.others == http::Endpoint::Others::ignored) continue;
    known.emplace();
    for (const char* name : route.endpoint.parameters)
      if (name != nullptr) known->insert(name);
  }
  return all;
}

/// Converts "/lists/{list}" to "/lists/*".
std::string pattern_of(std::string path) {
  for (std::size_t at = 0; (at = path.find('{', at)) != std::string::npos;)
    path.replace(at, path.find('}', at) - at + 1, "*");
  return path;
}

Told of_document() {
  std::ifstream file(W8Y_OPENAPI);
  const nlohmann::json json = nlohmann::json::parse(
      std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  Told all;
  for (const auto& [path, methods] : json["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      std::set<std::string> parameters;
      for (const auto& parameter : operation.value("parameters", nlohmann::json::array()))
        if (parameter["in"] == "query") parameters.insert(parameter["name"].get<std::string>());
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
      all[upper + " " + pattern_of(path)] = parameters;
    }
  return all;
}

}  // namespace

TEST_CASE("each path, method and parameter is in etc/openapi.json, which has no others") {
  loop::Loop loop;
  ops::test::FakeControl control;
  ops::test::FakeFleet fleet;
  api::EventHub events(loop, "here-1");
  api::QueryRunner queries(loop, {[] { return redis::ClientOptions(); },
                                  [] { return std::make_shared<const Config>(); }});
  RunsPerMinute hour;
  page::LiveHub live(loop, control, fleet, hour);
  api::RingEndpoint ring(loop, queries);
  http::Router router;
  api::add_api(router, control, fleet, events);
  api::add_routes({router, queries, control, fleet});
  page::add_live(router, live);
  page::add_page(router, control);
  ring.add_to(router);
  api::ProblemsEndpoint problems(loop, queries, control);
  problems.add_to(router);
  api::JobEndpoint jobs(loop, queries);
  jobs.add_to(router);
  const Told router_has = of_router(router);
  const Told document_has = of_document();
  CHECK(router_has.size() > 30);
  for (const auto& one : router_has) {
    CAPTURE(one.first);
    REQUIRE(document_has.contains(one.first));
    if (one.second) CHECK(document_has.at(one.first) == one.second);
  }
  for (const auto& one : document_has) {
    CAPTURE(one.first);
    // Metrics need the whole host.
    CHECK((router_has.contains(one.first) || one.first == "GET /metrics"));
  }
}

}  // namespace routes_test

#include "app/refused_tokens.hpp"

#include <doctest/doctest.h>

#include "app_support.hpp"

using namespace w8y;
using namespace w8y::app;
using namespace w8y::http;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace refused_tokens_test {
namespace {

HttpRequest request(const std::string& client, std::vector<std::string> path) {
  HttpRequest result;
  result.method = "POST";
  result.client = client;
  result.path = std::move(path);
  result.authorization = "Bearer not-the-token";
  result.query["token"] = "not-the-token";
  return result;
}

}  // namespace

TEST_CASE("a refused token is logged at once, and those of the next minute in one line") {
  Time time;
  FakeLog log;
  RefusedTokens tokens(log, time.clock, time.timers);
  tokens.add(request("192.0.2.7", {"api", "v1", "drain"}));
  CHECK(log.drain() == Lines{"warn token of the status API refused client=192.0.2.7 "
                             "request=\"POST /api/v1/drain\" refusals=1"});
  for (int i = 0; i < 1000; ++i) {
    tokens.add(request("192.0.2.8", {"api", "v1", "quiet"}));
    time.pass(50ms);
  }
  CHECK(log.lines.empty());
  time.pass(10s);
  CHECK(log.drain() == Lines{"warn token of the status API refused client=192.0.2.8 "
                             "request=\"POST /api/v1/quiet\" refusals=1000"});
  time.pass(59s);
  tokens.add(request("192.0.2.9", {"x"}));
  CHECK(log.lines.empty());
  time.pass(1s);
  CHECK(log.count("client=192.0.2.9 request=\"POST /x\" refusals=1") == 1);
  time.pass(1h);
  CHECK(log.drain().size() == 1);
  tokens.add(request("192.0.2.9", {"x"}));
  CHECK(log.drain().size() == 1);
}

TEST_CASE("a refused token is logged in a line of limited length without control characters") {
  Time time;
  FakeLog log;
  RefusedTokens tokens(log, time.clock, time.timers);
  tokens.add(request("::1", {"a\nb \x1b", std::string(5000, 'x')}));
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find("request=\"POST /a%0Ab%20%1B/xxx") != std::string::npos);
  CHECK(log.lines[0].size() < 400);
  CHECK(log.count("not-the-token") == 0);
  log.drain();
  tokens.flush();
  CHECK(log.lines.empty());
  tokens.add(request("::1", {"last"}));
  CHECK(log.lines.empty());
  tokens.flush();
  CHECK(log.count("request=\"POST /last\" refusals=1") == 1);
}

}  // namespace refused_tokens_test

// Checks of requests over TCP.
#include "http/tcp_gate.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;

namespace tcp_gate_test {
namespace {

constexpr const char* token = "0123456789abcdef";

/// Request as the gate receives it.
HttpRequest request(const std::string& method, const std::string& path, const std::string& host) {
  HttpRequest result;
  result.method = method;
  result.path = {path};
  result.version = "HTTP/1.1";
  result.hosts = 1;
  result.host = host;
  return result;
}

unsigned refused(const TcpGate& gate, const HttpRequest& what) {
  const HttpVerdict verdict = gate.check(what);
  return verdict.refusal ? verdict.refusal->status : 0;
}

}  // namespace

TEST_CASE("a gate accepts host names by address, localhost and configured names") {
  TcpGate gate;
  gate.set({"alpha", "W8Y.Example.org."}, token);
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9158", "[::1]", "[::1]:9158", "10.1.2.3:80", "localhost",
        "LocalHost:9158", "localhost.", "alpha", "ALPHA:9158", "w8y.example.org:443"}) {
    CAPTURE(host);
    CHECK(refused(gate, request("GET", "ok", host)) == 0);
  }
  for (const char* host : {"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
                           "alpha.evil.example", "256.0.0.1", "evil_example:80", "alpha.."}) {
    CAPTURE(host);
    for (const char* path : {"ok", "metrics"})
      CHECK(refused(gate, request("GET", path, host)) == 421);
    // Paths that a load balancer requests.
    for (const char* open : {"healthz", "readyz"}) {
      CHECK(refused(gate, request("GET", open, host)) == 0);
      CHECK(refused(gate, request("POST", open, host)) == 421);
    }
  }
  for (const char* host : {"localhost:80@evil.example",
                           "evil.example@localhost",
                           "localhost@evil.example:80",
                           "localhost:",
                           "localhost:x",
                           "localhost:080080",
                           "localhost:80:80",
                           "localhost/",
                           "local host",
                           " localhost",
                           "localhost ",
                           "localhost,evil.example",
                           "localhost?",
                           "http://localhost",
                           "\xc3\xa4",
                           "[evil]",
                           "[",
                           "]",
                           "[]",
                           "[::1",
                           "::1",
                           "[::1]x",
                           "[::1]:",
                           "[::1]:80@evil",
                           "[127.0.0.1]",
                           "[::1%25lo]",
                           ":9158"}) {
    CAPTURE(host);
    for (const char* path : {"ok", "metrics", "healthz", "readyz"})
      CHECK(refused(gate, request("GET", path, host)) == 400);
  }
  HttpRequest none = request("GET", "healthz", "");
  none.hosts = 0;
  CHECK(refused(gate, none) == 400);
  none.version = "HTTP/1.0";
  CHECK(refused(gate, none) == 0);
  HttpRequest two = request("GET", "ok", "localhost");
  two.hosts = 2;
  CHECK(refused(gate, two) == 400);
}

TEST_CASE("a gate accepts pages of the same host and port, and refuses other origins") {
  TcpGate gate;
  gate.set({"alpha"}, token);
  const auto from = [&](const char* origin, const char* host) {
    HttpRequest what = request("GET", "ok", host);
    what.origin = origin;
    return refused(gate, what);
  };
  CHECK(from("http://localhost:9158", "localhost:9158") == 0);
  CHECK(from("http://LOCALHOST:9158", "localhost:9158") == 0);
  CHECK(from("http://[::1]:9158", "[::1]:9158") == 0);
  CHECK(from("http://alpha", "alpha") == 0);
  CHECK(from("http://alpha:80", "alpha") == 0);
  CHECK(from("https://alpha", "alpha:443") == 0);
  for (const char* origin :
       {"null", "http://evil.example", "http://localhost", "http://localhost:9159",
        "http://127.0.0.1:9158", "file://", "localhost:9158", "http://localhost:9158.evil.example",
        "http://evil@localhost:9158"}) {
    CAPTURE(origin);
    CHECK(from(origin, "localhost:9158") == 403);
  }
}

TEST_CASE("a gate requires the token for changes, and then JSON") {
  TcpGate gate;
  gate.set({}, token);
  HttpRequest order = request("POST", "drain", "localhost");
  const auto with = [&](const std::string& authorization) {
    order.authorization = authorization;
    return refused(gate, order);
  };
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef0", "Basic 0123456789abcdef", "0123456789abcdef"}) {
    CAPTURE(wrong);
    CHECK(with(wrong) == 401);
  }
  CHECK(gate.check(request("DELETE", "x", "localhost")).refusal->challenge ==
        "Bearer realm=\"w8yd\"");
  CHECK(with("Bearer 0123456789abcdef") == 0);
  CHECK(with("bearer 0123456789abcdef") == 0);
  order.has_body = true;
  CHECK(with("Bearer 0123456789abcdef") == 415);
  order.content_type = "text/plain";
  CHECK(with("Bearer 0123456789abcdef") == 415);
  for (const char* json : {"application/json", "Application/JSON ; charset=utf-8"}) {
    order.content_type = json;
    CHECK(with("Bearer 0123456789abcdef") == 0);
  }
  gate.set({}, Secret());
  CHECK(with("Bearer 0123456789abcdef") == 401);
  CHECK(with("Bearer ") == 401);
}

TEST_CASE("a gate trusts a request with the token, and refuses a wrong token even for reading") {
  std::vector<std::string> seen;
  TcpGate gate([&](const HttpRequest& what) { seen.push_back(what.method + what.path[0]); });
  gate.set({}, token);
  HttpRequest what = request("GET", "ok", "localhost");
  CHECK_FALSE(gate.check(what).trusted);
  what.authorization = std::string("Bearer ") + token;
  CHECK(refused(gate, what) == 0);
  CHECK(gate.check(what).trusted);
  what.host = "evil.example";
  CHECK(refused(gate, what) == 421);
  CHECK_FALSE(gate.check(what).trusted);
  what.host = "localhost";
  CHECK(seen.empty());
  what.authorization = "Bearer wrong";
  CHECK(refused(gate, what) == 401);
  CHECK(gate.check(what).refusal->challenge == "Bearer realm=\"w8yd\"");
  what.method = "POST";
  CHECK(refused(gate, what) == 401);
  CHECK(seen == std::vector<std::string>{"GETok", "GETok", "POSTok"});
  // Credentials of another scheme are for a proxy in front of w8yd. The gate ignores them.
  what.method = "GET";
  what.authorization = "Basic dXNlcjpwYXNz";
  CHECK(refused(gate, what) == 0);
  CHECK_FALSE(gate.check(what).trusted);
  what.path = {"healthz"};
  what.authorization = "Bearer wrong";
  CHECK(refused(gate, what) == 0);
  // Without a token in the config, a GET with any token is accepted and not trusted.
  gate.set({}, Secret());
  what.path = {"ok"};
  CHECK(refused(gate, what) == 0);
  CHECK_FALSE(gate.check(what).trusted);
  CHECK(seen.size() == 3);
  what.authorization = "Bearer ";
  CHECK_FALSE(gate.check(what).trusted);
  what.method = "POST";
  CHECK(refused(gate, what) == 401);
  CHECK(seen.size() == 4);
}

}  // namespace tcp_gate_test

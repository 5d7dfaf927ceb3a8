// Heads that two programs may parse differently, and targets with too many parameters.
#include <doctest/doctest.h>

#include <string>

#include "http/head.hpp"
#include "http/server.hpp"
#include "ops_support.hpp"
#include "raw_client.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;

namespace http_head_test {
namespace {

struct Fixture {
  Fixture()
      : server(loop, path(), router), gated(loop, directory / "gated", router, {}, accept_all()) {
    for (const char* method : {"GET", "POST"})
      router.on({method, "/ok", {}, Endpoint::Others::ignored},
                [this](const HttpRequest&, const HttpReplyPtr& reply) {
                  ++handled;
                  reply->send({});
                });
  }
  static HttpGate accept_all() {
    return [](const HttpRequest&) { return HttpVerdict{}; };
  }
  [[nodiscard]] std::string path() const { return directory / "plain"; }

  TempDir directory;
  loop::Loop loop;
  Router router;
  int handled = 0;
  HttpServer server;
  HttpServer gated;
};

unsigned status_in(const std::string& answer) {
  if (answer.rfind("HTTP/1.", 0) != 0 || answer.size() < 12) return 0;
  return static_cast<unsigned>(std::stoul(answer.substr(9, 3)));
}

}  // namespace

TEST_CASE(
    "a head with an ambiguous end of the body is refused with 400, and the connection is closed") {
  Fixture f;
  const std::string post = "POST /ok HTTP/1.1\r\nHost: x\r\n";
  const std::string get = "GET /ok HTTP/1.1\r\nHost: x\r\n";
  const std::string length = "Content-Length: 2\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::string chunks = "\r\n2\r\n{}\r\n0\r\n\r\n";
  for (const std::string& bad : {
           post + "Content-Length : 2\r\n\r\n{}",
           post + "Content-Length\t: 2\r\n\r\n{}",
           get + "Content-Length : 2\r\n\r\n{}",
           post + "Transfer-Encoding : chunked\r\n" + chunks,
           post + "X Y: 2\r\n" + length + "\r\n{}",
           std::string("POST /ok HTTP/1.1\r\n") + " Content-Length: 2\r\nHost: x\r\n\r\n{}",
           post + length + length + "\r\n{}",
           post + length + "content-length: 40\r\n\r\n{}",
           post + "Content-Length: 2, 2\r\n\r\n{}",
           post + "Content-Length: +2\r\n\r\n{}",
           post + length + chunked + chunks,
           post + chunked + length + chunks,
           get + chunked + length + chunks,
           post + chunked + chunked + chunks,
           post + "Transfer-Encoding: gzip, chunked\r\n" + chunks,
           post + "Transfer-Encoding: identity\r\n\r\n",
       }) {
    CAPTURE(bad);
    for (const std::string& path : {f.path(), std::string(f.directory / "gated")}) {
      const RawClient client(path);
      client.send(bad + "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
      std::string answer;
      beside(f.loop, [&] { answer = client.receive(); });  // until the server closes the connection
      CHECK(status_in(answer) == 400);
      CHECK(answer.find("HTTP/1.1 200") == std::string::npos);
    }
  }
  CHECK(f.handled == 0);
  // Well-formed heads.
  for (const std::string& good :
       {post + "content-LENGTH:2\r\nConnection: close\r\n\r\n{}",
        post + "Transfer-Encoding: Chunked\r\nConnection: close\r\n" + chunks,
        get + "!#$%&'*+-.^_`|~: x\r\nConnection: close\r\n\r\n"}) {
    CAPTURE(good);
    const RawClient client(f.path());
    client.send(good);
    std::string answer;
    beside(f.loop, [&] { answer = client.receive(); });
    CHECK(status_in(answer) == 200);
  }
}

TEST_CASE("a target with more than 100 parameters is refused with 414 before it is decoded") {
  Fixture f;
  const auto target = [](std::size_t parameters, const std::string& parameter) {
    std::string text = "/ok?";
    for (std::size_t i = 0; i < parameters; ++i) text += (i == 0 ? "" : "&") + parameter;
    return text;
  };
  const auto answer_to = [&](const std::string& what) {
    const RawClient client(f.path());
    client.send("GET " + what + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    std::string answer;
    beside(f.loop, [&] { answer = client.receive(); });
    return answer;
  };
  CHECK(status_in(answer_to(target(100, "a=1"))) == 200);
  // 1,000 parameters exceed the memory that the library reserves for a connection.
  for (const std::size_t count : {101UL, 300UL, 1000UL, 5000UL}) {
    CAPTURE(count);
    const std::string answer = answer_to(target(count, "a=1"));
    CHECK(status_in(answer) == 414);
    CHECK(answer.find("more than 100 parameters") != std::string::npos);
  }
  CHECK(status_in(answer_to(target(101, "%"))) == 414);
  CHECK(status_in(answer_to(target(101, ""))) == 414);
  CHECK(f.handled == 1);
  CHECK(status_in(answer_to("/" + std::string(200, '&'))) == 404);
}

}  // namespace http_head_test

#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "http/client.hpp"
#include "http/server.hpp"
#include "http/target.hpp"
#include "ops_support.hpp"
#include "raw_client.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace http_server_test {
namespace {

/// Server that echoes requests, and keeps the replies that tests send later.
struct Fixture {
  explicit Fixture(HttpLimits limits = {}) {
    router.on({"GET", "/ok", {}, Endpoint::Others::ignored},
              [](const HttpRequest&, const HttpReplyPtr& reply) {
                HttpResponse response;
                response.body = "ok";
                reply->send(response);
              });
    router.on({"GET", "/echo/*"}, [](const HttpRequest& request, const HttpReplyPtr& reply) {
      HttpResponse response;
      response.body = request.path[1];
      reply->send(response);
    });
    router.on({"POST", "/echo"}, [](const HttpRequest& request, const HttpReplyPtr& reply) {
      HttpResponse response;
      response.body = request.body;
      reply->send(response);
    });
    router.on({"POST", "/later"},
              [this](const HttpRequest&, const HttpReplyPtr& reply) { later = reply; });
    router.on({"POST", "/held"}, [this](const HttpRequest&, const HttpReplyPtr& reply) {
      reply->set_last_response(error_response(503, "in doubt"));
      if (reply->hold_stream()) held.push_back(reply);
    });
    router.on({"POST", "/long", {}, Endpoint::Others::refused, 2000},
              [](const HttpRequest& request, const HttpReplyPtr& reply) {
                HttpResponse response;
                response.body = std::to_string(request.body.size());
                reply->send(response);
              });
    router.on({"POST", "/never"}, [](const HttpRequest&, const HttpReplyPtr&) {});
    router.on({"POST", "/throw"},
              [](const HttpRequest&, const HttpReplyPtr&) { throw std::runtime_error("broken"); });
    router.on({"GET", "/big"}, [](const HttpRequest&, const HttpReplyPtr& reply) {
      HttpResponse response;
      response.body.assign(std::size_t{20} << 20, 'x');
      reply->send(response);
    });
    router.on({"GET", "/stream"}, [this](const HttpRequest&, const HttpReplyPtr& reply) {
      stream = reply->stream("text/plain", "last words");
    });
    server = std::make_unique<HttpServer>(loop, path(), router, limits);
  }

  [[nodiscard]] std::string path() const { return directory / "status.sock"; }

  TempDir directory;
  loop::Loop loop;
  Router router;
  HttpReplyPtr later;
  std::vector<HttpReplyPtr> held;
  std::shared_ptr<HttpStream> stream;
  std::unique_ptr<HttpServer> server;
};

std::string error_of(const HttpResult& result) {
  return nlohmann::json::parse(result.body).at("error").get<std::string>();
}

unsigned raw_status(const std::string& answer) {
  if (answer.rfind("HTTP/1.", 0) != 0 || answer.size() < 12) return 0;
  return static_cast<unsigned>(std::stoul(answer.substr(9, 3)));
}

}  // namespace

TEST_CASE("requests have responses, and unknown paths and wrong methods have them as JSON") {
  Fixture f;
  beside(f.loop, [&] {
    HttpClient client(f.path());
    CHECK(client.get("/ok").body == "ok");
    CHECK(client.get("/ok?x=1").status == 200);
    const HttpResult missing = client.get("/nothing");
    CHECK(missing.status == 404);
    CHECK_FALSE(error_of(missing).empty());
    const HttpResult wrong = client.post("/ok", "");
    CHECK(wrong.status == 405);
    CHECK(error_of(wrong) == "use GET");
    CHECK(client.get("/ok/").status == 404);
    CHECK(client.get("//ok").status == 404);
    CHECK(client.get("/echo/%").status == 400);
    CHECK(client.post("/echo", "hello").body == "hello");
    CHECK(client.post("/echo", "").status == 200);
    CHECK(client.post("/throw", "").status == 500);
    CHECK(client.post("/never", "").status == 500);
  });
}

TEST_CASE("segments of a path may be any bytes") {
  Fixture f;
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  beside(f.loop, [&] {
    HttpClient client(f.path());
    for (const std::string& segment :
         {"media:thumbs"s, "a/b"s, "a\0b"s, ".."s, ""s, " ?#&=+"s, all}) {
      const HttpResult result = client.get(make_path({"echo", segment}));
      CHECK(result.status == 200);
      CHECK(result.body == segment);
    }
  });
}

TEST_CASE("HEAD is GET without a body, and Allow names the methods") {
  Fixture f;
  beside(f.loop, [&] {
    const RawClient head(f.path());
    head.send("HEAD /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const std::string answer = head.receive();
    CHECK(raw_status(answer) == 200);
    CHECK(answer.find("\r\n\r\nok") == std::string::npos);
    const RawClient wrong(f.path());
    wrong.send("DELETE /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(wrong.receive().find("Allow: GET\r\n") != std::string::npos);
  });
}

TEST_CASE("a response may be sent later, and is discarded if the client has disconnected") {
  Fixture f;
  const RawClient client(f.path());
  client.send("POST /later HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}");
  REQUIRE(turn_until(f.loop, [&] { return f.later != nullptr; }));
  HttpResponse response;
  response.status = 202;
  response.body = "done";
  f.later->send(response);
  f.later->send(error_response(500, "too late"));
  std::string answer;
  beside(f.loop, [&] { answer = client.receive(); });
  CHECK(raw_status(answer) == 202);
  CHECK(answer.find("done") != std::string::npos);

  f.later.reset();
  {
    const RawClient gone(f.path());
    gone.send("POST /later HTTP/1.0\r\nContent-Length: 0\r\n\r\n");
    REQUIRE(turn_until(f.loop, [&] { return f.later != nullptr; }));
  }
  f.later->send(response);
  CHECK(turn_until(f.loop, [&] { return f.server->connections() == 0; }));
}

TEST_CASE("long bodies are refused, with and without a length") {
  Fixture f;
  beside(f.loop, [&] {
    HttpClient client(f.path());
    const std::string most(std::size_t{1} << 20, 'x');
    CHECK(client.post("/echo", most).body == most);
    const HttpResult over = client.post("/echo", most + "x");
    CHECK(over.status == 413);
    CHECK(client.get("/ok").status == 200);
    const RawClient chunked(f.path());
    chunked.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "10000\r\n" + std::string(0x10000, 'y') + "\r\n";
    bool open = true;
    for (int i = 0; i < 40 && open; ++i) open = chunked.send(chunk);
    chunked.send("0\r\n\r\n");
    CHECK(raw_status(chunked.receive_until("\r\n")) == 413);
    const RawClient lie(f.path());
    lie.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n");
    const unsigned status = raw_status(lie.receive_until("\r\n"));
    CHECK((status == 413 || status == 400));
  });
}

TEST_CASE("long heads are refused") {
  Fixture f;
  beside(f.loop, [&] {
    const RawClient header(f.path());
    header.send("GET /ok HTTP/1.1\r\nHost: x\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n");
    CHECK(raw_status(header.receive()) == 431);
    const RawClient target(f.path());
    target.send("GET /" + std::string(1 << 20, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(raw_status(target.receive()) == 414);
    HttpClient client(f.path());
    CHECK(client.get("/ok").status == 200);
  });
}

TEST_CASE("invalid bytes do not affect other clients") {
  Fixture f({.request_timeout = 1s});
  beside(f.loop, [&] {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> byte(0, 255);
    for (int i = 0; i < 100; ++i) {
      const RawClient client(f.path());
      std::string bytes = i % 2 == 0 ? "GET /ok HTTP/1.1\r\n" : "";
      for (int k = 0; k < 400; ++k) bytes += static_cast<char>(byte(random));
      client.send(bytes + "\r\n\r\n");
    }
    for (const char* text :
         {"\r\n\r\n", "GET\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET * HTTP/1.1\r\n\r\n",
          "GET http://h/ok HTTP/1.1\r\nHost: h\r\n\r\n", "GET /ok HTTP/9.9\r\n\r\n",
          "G\0T /ok HTTP/1.1\r\n\r\n"}) {
      const RawClient client(f.path());
      client.send(text);
      CHECK(raw_status(client.receive(300)) != 200);
    }
    HttpClient client(f.path());
    CHECK(client.get("/ok").status == 200);
  });
  CHECK(turn_until(f.loop, [&] { return f.server->connections() == 0; }));
}

TEST_CASE("200 clients at once are all served, a limited number at a time") {
  Fixture f;
  std::vector<HttpResult> results(200);
  std::size_t most = 0;
  const loop::Loop::BeforeWait look(f.loop,
                                    [&] { most = std::max(most, f.server->connections()); });
  beside(f.loop, [&] {
    std::vector<std::thread> threads;
    for (HttpResult& result : results)
      threads.emplace_back([&] { result = HttpClient(f.path()).get("/ok"); });
    for (std::thread& thread : threads) thread.join();
  });
  for (const HttpResult& result : results) {
    CHECK(result.problem.empty());
    CHECK(result.body == "ok");
  }
  CHECK(most <= 64);
  CHECK(most > 0);
}

TEST_CASE("a client that sends its request slowly is disconnected, even if it keeps sending") {
  Fixture f({.request_timeout = 1s});
  beside(f.loop, [&] {
    const RawClient silent(f.path());
    const RawClient dripping(f.path());
    dripping.send("GET /ok HTTP/1.1\r\nX: ");
    bool open = true;
    for (int i = 0; i < 400 && open; ++i) open = dripping.send("x") && !dripping.closed_within(50);
    CHECK_FALSE(open);
    CHECK(silent.receive().empty());
  });
  CHECK(turn_until(f.loop, [&] { return f.server->connections() == 0; }));
}

TEST_CASE("a client that does not read its response is disconnected") {
  Fixture f({.request_timeout = 1s, .response_timeout = 1s});
  const RawClient client(f.path());
  client.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return f.server->connections() == 1; }));
  CHECK(turn_until(f.loop, [&] { return f.server->connections() == 0; }));
}

TEST_CASE("long unread responses are limited in total, and short ones are always sent") {
  Fixture f({.unread = std::size_t{45} << 20});
  const RawClient first(f.path());
  const RawClient second(f.path());
  for (const RawClient* client : {&first, &second}) client->send("GET /big HTTP/1.0\r\n\r\n");
  beside(f.loop, [&] {
    CHECK(raw_status(first.receive_until("\r\n")) == 200);
    CHECK(raw_status(second.receive_until("\r\n")) == 200);
    HttpClient client(f.path());
    CHECK(client.get("/ok").body == "ok");
    const HttpResult third = client.get("/big");
    CHECK(third.status == 503);
    CHECK(error_of(third).find("retry later") != std::string::npos);
    CHECK(second.receive().size() > std::size_t{20} << 20);
    CHECK(client.get("/big").status == 200);
  });
}

TEST_CASE("the number of streams is limited, and other requests are still served") {
  Fixture f({.streams = 2});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<RawClient>(f.path()));
    clients.back()->send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    beside(f.loop, [&] { CHECK(raw_status(clients.back()->receive_until("\r\n")) == 200); });
  }
  const auto open = f.stream;
  beside(f.loop, [&] {
    HttpClient client(f.path());
    CHECK(error_of(client.get("/stream")).find("there are 2 streams already") == 0);
    CHECK(client.get("/ok").status == 200);
  });
  clients.pop_back();
  REQUIRE(turn_until(f.loop, [&] {
    open->push("x");
    return f.server->connections() == 1;
  }));
  const RawClient next(f.path());
  next.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  beside(f.loop, [&] { CHECK(raw_status(next.receive_until("\r\n")) == 200); });
}

TEST_CASE("a request that waits counts as a stream until its response") {
  Fixture f({.streams = 1});
  const RawClient waiting(f.path());
  waiting.send("POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return f.held.size() == 1; }));
  beside(f.loop, [&] {
    HttpClient client(f.path());
    CHECK(error_of(client.get("/stream")).find("there are 1 streams already") == 0);
    CHECK(error_of(client.post("/held", "")).find("there are 1 streams already") == 0);
  });
  f.held.front()->send({});
  beside(f.loop, [&] { CHECK(raw_status(waiting.receive_until("\r\n")) == 200); });
  const RawClient next(f.path());
  next.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  beside(f.loop, [&] { CHECK(raw_status(next.receive_until("\r\n")) == 200); });
}

TEST_CASE("an endpoint may accept a longer body than the others") {
  Fixture f({.body = 1000});
  beside(f.loop, [&] {
    HttpClient client(f.path());
    CHECK(client.post("/echo", std::string(1001, 'x')).status == 413);
    CHECK(client.post("/long", std::string(2000, 'x')).body == "2000");
    CHECK(client.post("/long", std::string(2001, 'x')).status == 413);
    CHECK(client.post("/echo", std::string(1000, 'x')).status == 200);
  });
}

TEST_CASE("a request without a response gets the last response when the server stops") {
  Fixture f;
  const RawClient waiting(f.path());
  waiting.send("POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return f.held.size() == 1; }));
  f.server.reset();
  const std::string answer = waiting.receive();
  CHECK(raw_status(answer) == 503);
  CHECK(answer.find("in doubt") != std::string::npos);
}

TEST_CASE("a large response is sent completely") {
  Fixture f;
  beside(f.loop, [&] {
    HttpClient client(f.path());
    CHECK(client.get("/big").body.size() == std::size_t{20} << 20);
  });
}

TEST_CASE("a stream sends pushed data, and ends when it is closed") {
  Fixture f;
  const RawClient client(f.path());
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return f.stream != nullptr; }));
  CHECK(f.stream->push("one "));
  for (int i = 0; i < 10; ++i) f.loop.iterate(false);
  CHECK(f.stream->push("two"));
  f.stream->close();
  CHECK_FALSE(f.stream->push("three"));
  REQUIRE(turn_until(f.loop, [&] { return f.server->connections() == 0; }));
  const std::string answer = client.receive();
  CHECK(answer.find("Content-Type: text/plain\r\n") != std::string::npos);
  CHECK(answer.substr(answer.find("\r\n\r\n") + 4) == "one two");
}

TEST_CASE("a stream with a slow client is ended with its final text") {
  Fixture f({.stream = 64 << 10, .request_timeout = 1s});
  auto client = std::make_unique<RawClient>(f.path());
  client->send("GET /stream HTTP/1.0\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return f.stream != nullptr; }));
  std::size_t pushed = 0;
  while (f.stream->push(std::string(1000, 'x')) && pushed < (100 << 20)) {
    pushed += 1000;
    for (int i = 0; i < 3; ++i) f.loop.iterate(false);
  }
  CHECK(pushed < (10 << 20));
  std::string answer;
  SUBCASE("the client reads the final text") {
    beside(f.loop, [&] { answer = client->receive(); });
    CHECK(answer.size() > pushed);
    CHECK(answer.substr(answer.size() - 10) == "last words");
  }
  SUBCASE("the client is disconnected") {}
  CHECK(turn_until(f.loop, [&] { return f.server->connections() == 0; }));
}

TEST_CASE("a stream reports at a push that its client has disconnected") {
  Fixture f;
  auto client = std::make_unique<RawClient>(f.path());
  client->send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return f.stream != nullptr; }));
  client.reset();
  CHECK(turn_until(f.loop, [&] {
    const bool gone = !f.stream->push("x");
    f.loop.iterate(false);
    return gone;
  }));
  CHECK(f.server->connections() == 0);
}

TEST_CASE("a stopping server ends streams, replies to waiting requests and removes its socket") {
  Fixture f;
  const RawClient streaming(f.path());
  const RawClient waiting(f.path());
  const RawClient idle(f.path());
  streaming.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  waiting.send("POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  REQUIRE(turn_until(f.loop, [&] { return f.stream && f.later; }));
  CHECK(f.stream->push("bye"));
  f.server.reset();
  CHECK_FALSE(std::filesystem::exists(f.path()));
  CHECK_FALSE(f.stream->push("x"));
  f.later->send({});
  CHECK(raw_status(waiting.receive()) == 503);
  const std::string stream = streaming.receive();
  CHECK(stream.find("bye") != std::string::npos);
  CHECK(stream.find("\r\n0\r\n\r\n") != std::string::npos);
}

TEST_CASE("a server without a free descriptor does not busy-loop, and continues when it has one") {
  Fixture f;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const RawClient client(f.path());
  client.send("GET /ok HTTP/1.0\r\n\r\n");
  rlimit tight = before;
  const int next = dup(client.fd());
  close(next);
  tight.rlim_cur = static_cast<rlim_t>(next);
  setrlimit(RLIMIT_NOFILE, &tight);
  int turns = 0;
  const Instant until = f.loop.now() + 500ms;
  turn_until(f.loop, [&] { return ++turns, f.loop.now() > until; });
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(turns < 2000);
  CHECK(f.server->connections() == 0);
  std::string answer;
  beside(f.loop, [&] { answer = client.receive(); });
  CHECK(raw_status(answer) == 200);
}

TEST_CASE("a gate refuses a request before a handler is called") {
  const TempDir directory;
  loop::Loop loop;
  Router router;
  std::string seen;
  const HttpServer server(loop, directory / "s", router, {}, [&](const HttpRequest& request) {
    seen = request.origin + " " + request.last_event_id;
    return HttpVerdict{std::make_unique<HttpResponse>(error_response(403, "not you")), false};
  });
  const RawClient client(directory / "s");
  client.send("GET /ok HTTP/1.0\r\nOrigin: http://evil\r\nLast-Event-ID: a.7\r\n\r\n");
  std::string answer;
  beside(loop, [&] { answer = client.receive(); });
  CHECK(raw_status(answer) == 403);
  CHECK(seen == "http://evil a.7");
}

}  // namespace http_server_test

// Status API over TCP: permissions, and the cost of hostile clients.
#include <doctest/doctest.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/status_address.hpp"
#include "core/status_token.hpp"
#include "http/client.hpp"
#include "http/server.hpp"
#include "http/tcp_gate.hpp"
#include "http/tcp_listener.hpp"
#include "ops_support.hpp"
#include "raw_client.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::chrono_literals;

namespace tcp_test {
namespace {

constexpr const char* token = "0123456789abcdef";

StatusAddress address_of(const std::string& text) {
  StatusAddress address;
  const std::string problem = parse_status_address(text, address);
  REQUIRE(problem.empty());
  return address;
}

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(fd);
  return ntohs(address.sin_port);
}

unsigned status_in(const std::string& answer) {
  if (answer.rfind("HTTP/1.", 0) != 0 || answer.size() < 12) return 0;
  return static_cast<unsigned>(std::stoul(answer.substr(9, 3)));
}

struct Fixture {
  explicit Fixture(HttpLimits limits = {}) {
    router.on({"GET", "/ok"}, [](const HttpRequest&, const HttpReplyPtr& reply) {
      HttpResponse response;
      response.body = "ok";
      reply->send(response);
    });
    router.on({"GET", "/large"}, [](const HttpRequest&, const HttpReplyPtr& reply) {
      HttpResponse response;
      response.body.assign(std::size_t{8} << 20, 'x');
      reply->send(response);
    });
    router.on({"GET", "/stream"}, [this](const HttpRequest&, const HttpReplyPtr& reply) {
      streams.push_back(reply->stream("text/plain", ""));
    });
    router.on({"GET", "/who"}, [](const HttpRequest& what, const HttpReplyPtr& reply) {
      HttpResponse response;
      response.body = what.client + (reply->trusted() ? " trusted" : " any");
      reply->send(response);
    });
    router.on({"POST", "/echo"}, [](const HttpRequest& what, const HttpReplyPtr& reply) {
      HttpResponse response;
      response.body = what.body;
      reply->send(response);
    });
    gate.set({"alpha"}, token);
    for (int i = 0; i < 20 && !server; ++i) {
      port = free_port();
      try {
        server = std::make_unique<HttpServer>(
            loop, listen_at(address_of(text())), router, limits,
            [this](const HttpRequest& what) { return gate.check(what); });
      } catch (const SocketInUse&) {  // another test has taken the port
      }
    }
    REQUIRE(server);
  }

  [[nodiscard]] std::string text() const { return "127.0.0.1:" + std::to_string(port); }
  [[nodiscard]] unsigned ask(const std::string& bytes) const {
    const RawClient client(port);
    client.send(bytes);
    return status_in(client.receive_until("\r\n"));
  }

  loop::Loop loop;
  Router router;
  TcpGate gate;
  std::vector<std::shared_ptr<HttpStream>> streams;
  std::uint16_t port = 0;
  std::unique_ptr<HttpServer> server;
};

}  // namespace

TEST_CASE("an address of another listener is in use, and both IP families have one port") {
  const Fixture f;
  try {
    const TcpListener second(address_of(f.text()));
    FAIL("listens beside the first");
  } catch (const SocketInUse& error) {
    CHECK(std::string(error.what()) ==
          "the status address is in use by another program: " + f.text());
  }
  try {
    const TcpListener elsewhere(address_of("192.0.2.1:9158"));
    FAIL("listens at an address of nobody");
  } catch (const SocketInUse&) {
    FAIL("is in use");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("cannot listen on 192.0.2.1:9158") == 0);
  }
  try {
    const TcpListener all(address_of("[::]:" + std::to_string(f.port)));
    CHECK(all.address().front() == '[');
  } catch (const SocketInUse&) {
    FAIL("IPv6 is in IPv4's way");
  } catch (const std::runtime_error&) {  // this host has no IPv6
  }
}

TEST_CASE("any client may read over TCP, and a client with the token may make changes") {
  Fixture f({.body = 1000});
  const std::string bearer = std::string("Authorization: Bearer ") + token + "\r\n";
  const std::string post = " HTTP/1.1\r\nHost: localhost\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  beside(f.loop, [&] {
    HttpClient client(address_of(f.text()));
    CHECK(client.get("/ok").body == "ok");
    CHECK(client.get("/nothing").status == 404);
    CHECK(client.post("/echo", "{}").status == 401);
    CHECK(client.post("/nothing", "{}").status == 401);
    CHECK(f.ask("GET /ok HTTP/1.1\r\n\r\n") == 400);
    CHECK(f.ask("GET /ok HTTP/1.1\r\nHost: evil.example\r\n\r\n") == 421);
    // Refused before the path is checked and the body is read.
    CHECK(f.ask("POST /%" + post + "Content-Length: 0\r\n\r\n") == 401);
    CHECK(f.ask("POST /%" + post + bearer + "Content-Length: 0\r\n\r\n") == 400);
    CHECK(f.ask("POST /echo" + post + json + "Content-Length: 99999999\r\n\r\n") == 401);
    CHECK(f.ask("POST /echo" + post + json + bearer + "Content-Length: 99999999\r\n\r\n") == 413);
    CHECK(f.ask("POST /echo" + post + bearer + "Content-Length: 2\r\n\r\n{}") == 415);
    CHECK(f.ask("POST /echo" + post + bearer + json + "Content-Length: 2\r\n\r\n{}") == 200);
    // A chunked body is skipped, then the response is sent.
    std::string chunks;
    for (int i = 0; i < 50; ++i) chunks += "400\r\n" + std::string(0x400, 'x') + "\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n";
    CHECK(f.ask("POST /echo" + post + json + chunked) == 401);
    CHECK(f.ask("POST /echo" + post + json + bearer + chunked) == 413);
  });
}

TEST_CASE("an ambiguous head is refused before the token is checked") {
  Fixture f;
  const std::string bearer = std::string("Authorization: Bearer ") + token + "\r\n";
  const std::string post =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\n" + bearer + "Content-Type: application/json\r\n";
  beside(f.loop, [&] {
    CHECK(f.ask(post + "Content-Length: 2\r\n\r\n{}") == 200);
    CHECK(f.ask(post + "Content-Length : 2\r\n\r\n{}") == 400);
    CHECK(f.ask(post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}") == 400);
    CHECK(f.ask(post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 400);
    CHECK(f.ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length : 2\r\n\r\n{}") == 400);
    CHECK(f.ask("GET /ok HTTP/1.1\r\nHost: localhost:80@evil.example\r\n\r\n") == 400);
    CHECK(f.ask("GET /ok?" + std::string(100, '&') + " HTTP/1.1\r\nHost: localhost\r\n\r\n") ==
          414);
  });
}

TEST_CASE("clients without the token have half of the streams and of the unread responses") {
  Fixture f({.streams = 4, .unread = std::size_t{20} << 20});
  const std::string any = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string trusted =
      std::string(" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ") + token + "\r\n\r\n";
  std::vector<std::unique_ptr<RawClient>> clients;
  const auto ask = [&](const std::string& bytes) {
    clients.push_back(std::make_unique<RawClient>(f.port));
    clients.back()->send(bytes);
    return status_in(clients.back()->receive_until("\r\n"));
  };
  beside(f.loop, [&] {
    HttpClient client(address_of(f.text()));
    CHECK(client.get("/who").body == "127.0.0.1 any");
    for (int i = 0; i < 2; ++i) CHECK(ask("GET /stream" + any) == 200);
    CHECK(ask("GET /stream" + any) == 503);
    for (int i = 0; i < 2; ++i) CHECK(ask("GET /stream" + trusted) == 200);
    CHECK(ask("GET /stream" + trusted) == 503);
    // Responses of 8 MiB that no client reads.
    CHECK(ask("GET /large" + any) == 200);
    CHECK(ask("GET /large" + any) == 503);
    CHECK(ask("GET /large" + trusted) == 200);
    CHECK(ask("GET /large" + trusted) == 503);
    CHECK(client.get("/ok").body == "ok");
  });
}

TEST_CASE("300 idle connections do not keep other clients out, and their number is limited") {
  Fixture f({.connections = 20, .spare = 4, .request_timeout = 60s});
  std::size_t most = 0;
  const loop::Loop::BeforeWait look(f.loop,
                                    [&] { most = std::max(most, f.server->connections()); });
  beside(f.loop, [&] {
    std::vector<std::unique_ptr<RawClient>> clients;
    const RawClient first(f.port);
    for (int i = 0; i < 300; ++i) {
      clients.push_back(std::make_unique<RawClient>(f.port));
      // Each client sends nothing, a part of a head, or a head without its body.
      if (i % 3 == 1) clients.back()->send("GET /ok HTTP/1.1\r\nX: ");
      if (i % 3 == 2)
        clients.back()->send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n");
    }
    CHECK(first.closed_within(30000));
    HttpClient client(address_of(f.text()));
    const HttpResult answer = client.get("/ok");
    CHECK(answer.problem == "");
    CHECK(answer.body == "ok");
    // The newest connections are still open.
    CHECK_FALSE(clients.back()->closed_within(0));
  });
  CHECK(most >= 20);
  CHECK(most <= 24);
}

TEST_CASE("a client that does not read its response makes room for others") {
  Fixture f({.connections = 6,
             .spare = 2,
             .request_timeout = 5min,
             .reading_timeout = 50ms,
             .response_timeout = 5min});
  beside(f.loop, [&] {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<RawClient>(f.port));
      clients.back()->send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    HttpClient client(address_of(f.text()));
    CHECK(client.get("/ok").body == "ok");
  });
}

TEST_CASE("slow and huge heads over TCP are disconnected") {
  Fixture f({.request_timeout = 1s});
  beside(f.loop, [&] {
    const RawClient dripping(f.port);
    dripping.send("GET /ok HTTP/1.1\r\nHost: localhost\r\nX: ");
    bool open = true;
    for (int i = 0; i < 1000 && open; ++i) open = dripping.send("x") && !dripping.closed_within(50);
    CHECK_FALSE(open);
    const RawClient slow_body(f.port);
    slow_body.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n");
    open = true;
    for (int i = 0; i < 1000 && open; ++i)
      open = slow_body.send("x") && !slow_body.closed_within(50);
    CHECK_FALSE(open);
    const RawClient huge(f.port);
    open = huge.send("GET /ok HTTP/1.1\r\nHost: localhost\r\nX: ");
    for (int i = 0; i < 1000 && open; ++i) open = huge.send(std::string(100000, 'x'));
    CHECK_FALSE(open);
    HttpClient client(address_of(f.text()));
    CHECK(client.get("/ok").body == "ok");
  });
  CHECK(turn_until(f.loop, [&] { return f.server->connections() == 0; }));
}

TEST_CASE("a token is the first line of its file") {
  const TempDir directory;
  const std::string path = directory / "token";
  const auto of = [&](const std::string& text) {
    directory.file("token", text);
    return read_status_token(path);
  };
  CHECK(of("0123456789abcdef").token.view() == token);
  CHECK(of("0123456789abcdef\n").token.view() == token);
  CHECK(of("0123456789abcdef\r\nmore\n").token.view() == token);
  for (const char* wrong : {"", "\n", "\n0123456789abcdef\n", "0123456789abcde\n",
                            "0123456789 abcdef\n", "0123456789abcdef\xc3\xa4\n"}) {
    const std::string text = wrong;
    CAPTURE(text);
    CHECK_FALSE(of(text).problem.empty());
    CHECK(of(text).token.empty());
  }
  CHECK(of("0123456789abcde\n").problem.find("has a token of 15 bytes; must be at least 16") == 0);
  CHECK_FALSE(of(std::string(5000, 'x')).problem.empty());
  CHECK(read_status_token(directory / "none").problem == "not found");
  CHECK(same_secret("a", "a"));
  CHECK_FALSE(same_secret("a", "b"));
  CHECK_FALSE(same_secret("a", "aa"));
}

}  // namespace tcp_test

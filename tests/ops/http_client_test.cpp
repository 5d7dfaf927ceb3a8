#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/client.hpp"
#include "http/unix_listener.hpp"
#include "ops_support.hpp"
#include "raw_client.hpp"

using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;
using namespace std::chrono_literals;

namespace http_client_test {

TEST_CASE(
    "a client waits for a server with a full backlog, at most for the timeout of the request") {
  const TempDir directory;
  const std::string path = directory / "busy.sock";
  UnixListener listener(path);
  const int server = listener.release();
  REQUIRE(listen(server, 0) == 0);  // a backlog of one connection
  fcntl(server, F_SETFL, 0);
  constexpr timeval limit = {30, 0};
  setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  {
    const RawClient first(path);
    REQUIRE(first.connected());
    const HttpResult result = HttpClient(path).get("/", 50ms);
    CHECK(result.status == 0);
    CHECK(result.problem == "the server did not accept the connection in time");
  }
  std::vector<HttpResult> results(4);
  std::vector<std::thread> clients;
  for (HttpResult& result : results)
    clients.emplace_back([&] { result = HttpClient(path).get("/"); });
  for (std::size_t answered = 0; answered < results.size();) {
    const int fd = accept(server, nullptr, nullptr);
    CHECK(fd >= 0);
    if (fd < 0) break;
    char request[4096];
    constexpr std::string_view answer = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
    if (recv(fd, request, sizeof request, 0) > 0)  // the first client has disconnected
      answered += write(fd, answer.data(), answer.size()) > 0 ? 1 : 0;
    close(fd);
  }
  for (std::thread& client : clients) client.join();
  for (const HttpResult& result : results) CHECK(result.body == "ok");
  close(server);
}

TEST_CASE("a missing server is a problem in the result, not an exception") {
  const TempDir directory;
  HttpClient client(directory / "nobody.sock");
  const HttpResult result = client.get("/");
  CHECK(result.status == 0);
  CHECK_FALSE(result.problem.empty());
}

}  // namespace http_client_test

// HTTP fuzzer: any bytes over a real connection, in two pieces. One server trusts each client. The
// other one checks requests as over TCP.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "fuzz.hpp"
#include "http/server.hpp"
#include "http/target.hpp"
#include "http/tcp_gate.hpp"
#include "loop/loop.hpp"
#include "support/temp_dir.hpp"

namespace {

using namespace w8y;

constexpr std::string_view token = "0123456789abcdef";

struct Server {
  explicit Server(bool gated)
      : server(loop, directory / "s", router, limits(gated), gate_of(gated)) {
    gate.set({"alpha"}, Secret(std::string(token)));
    router.on({"GET", "/a/*"}, answer);
    router.on({"POST", "/a/*"}, [this](const auto& request, const auto& reply) {
      ++orders;
      answer(request, reply);
    });
    router.on({"GET", "/stream"}, [](const http::HttpRequest&, const http::HttpReplyPtr& reply) {
      reply->stream("text/plain", "")->close();
    });
  }

  static http::HttpLimits limits(bool gated) {
    http::HttpLimits limits;
    if (gated) limits.spare = 4;
    return limits;
  }
  http::HttpGate gate_of(bool gated) {
    if (!gated) return {};
    return [this](const http::HttpRequest& request) { return gate.check(request); };
  }

  static void answer(const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
    http::HttpResponse response;
    response.body = request.path[1] + request.body;
    for (const auto& [name, value] : request.query) response.body += name + value;
    reply->send(response);
  }

  [[nodiscard]] int connect() const {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory / "s";
    std::memcpy(address.sun_path, path.c_str(), path.size());
    fuzz::must(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
               "the server takes connections");
    return fd;
  }

  void turn_until_gone() {
    for (int turn = 0; server.connections() > 0; ++turn) {
      fuzz::must(turn < 10000, "a client that has gone is forgotten");
      loop.iterate(false);
    }
  }

  test::TempDir directory;
  loop::Loop loop;
  http::Router router;
  http::TcpGate gate;
  std::size_t orders = 0;  ///< number of executed commands
  http::HttpServer server;
};

void talk(Server& server, std::string_view bytes, std::size_t first) {
  const int fd = server.connect();
  send(fd, bytes.data(), first, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (int i = 0; i < 4; ++i) server.loop.iterate(false);
  send(fd, bytes.data() + first, bytes.size() - first, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (int i = 0; i < 4; ++i) server.loop.iterate(false);
  close(fd);
  server.turn_until_gone();
}

void check_target(std::string_view text) {
  const auto target = http::parse_target(text);
  if (!target) return;
  fuzz::must(http::has_too_many_parameters(text) || target->query.size() <= http::max_parameters,
             "parameters are counted");
  const auto again = http::parse_target(http::make_path(target->path));
  fuzz::must(again && again->path == target->path, "a path can be written and read again");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server& trusting = *new Server(false);
  static Server& gated = *new Server(true);
  if (size == 0 || size > 60000) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  check_target(bytes.substr(0, bytes.find(' ')));
  const std::size_t first = std::min<std::size_t>(bytes.size(), data[0]);
  talk(trusting, bytes, first);
  const std::size_t before = gated.orders;
  talk(gated, bytes, first);
  fuzz::must(gated.orders == before || bytes.find(token) != std::string_view::npos,
             "nothing is changed without the token");
  return 0;
}

// What comes over the status socket: any bytes, over a real connection, in two portions.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "fuzz.hpp"
#include "loop/loop.hpp"
#include "ops/http_server.hpp"
#include "ops/http_target.hpp"
#include "support/temp_dir.hpp"

namespace {

using namespace w8y;

struct Server {
  Server() : server(loop, folder / "s", router) {
    router.on("GET", "/a/*", answer);
    router.on("POST", "/a/*", answer);
    router.on("GET", "/stream", [](const ops::HttpRequest&, const ops::HttpReplyPtr& reply) {
      reply->stream("text/plain", "")->close();
    });
  }

  static void answer(const ops::HttpRequest& request, const ops::HttpReplyPtr& reply) {
    ops::HttpResponse response;
    response.body = request.path[1] + request.body;
    for (const auto& [name, value] : request.query) response.body += name + value;
    reply->send(response);
  }

  [[nodiscard]] int connect() const {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder / "s";
    std::memcpy(address.sun_path, path.c_str(), path.size());
    fuzz::must(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
               "the server takes connections");
    return fd;
  }

  void turn_until_gone() {
    for (int turn = 0; server.connections() > 0; ++turn) {
      fuzz::must(turn < 10000, "a client that has gone is forgotten");
      loop.turn(false);
    }
  }

  test::TempDir folder;
  loop::Loop loop;
  ops::Router router;
  ops::HttpServer server;
};

void look_at_target(std::string_view text) {
  const auto target = ops::parse_target(text);
  if (!target) return;
  const auto again = ops::parse_target(ops::make_path(target->path));
  fuzz::must(again && again->path == target->path, "a path can be written and read again");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server& server = *new Server;
  if (size == 0 || size > 60000) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  look_at_target(bytes.substr(0, bytes.find(' ')));

  const int fd = server.connect();
  const std::size_t first = std::min<std::size_t>(bytes.size(), data[0]);
  send(fd, bytes.data(), first, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (int i = 0; i < 4; ++i) server.loop.turn(false);
  send(fd, bytes.data() + first, bytes.size() - first, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (int i = 0; i < 4; ++i) server.loop.turn(false);
  close(fd);
  server.turn_until_gone();
  return 0;
}

// Real server with TLS, and peers with a false identity.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "fixture.hpp"
#include "redis/server_client.hpp"
#include "redis/subscriber.hpp"
#include "redis/tls_transport.hpp"
#include "support/certificates.hpp"
#include "support/sentinels.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::ServerClient;

namespace tls_test {
namespace {

struct TlsServer {
  enum class Clients { anybody, with_certificate };

  explicit TlsServer(Clients clients = Clients::anybody, const std::string& cert = "",
                     std::vector<std::string> more = {})
      : server({.config = lines(clients, cert, std::move(more)), .tcp = true}) {
    redis::provide_tls();
  }

  std::vector<std::string> lines(Clients clients, const std::string& cert,
                                 std::vector<std::string> more) {
    more.insert(
        more.end(),
        {"tls-port " + std::to_string(port),
         "tls-cert-file " + (cert.empty() ? certificates.server_cert() : cert),
         "tls-key-file " + certificates.server_key(), "tls-ca-cert-file " + certificates.ca(),
         std::string("tls-auth-clients ") + (clients == Clients::anybody ? "no" : "yes")});
    return more;
  }

  [[nodiscard]] redis::ClientOptions options() const {
    redis::ClientOptions options = options_for("rediss://127.0.0.1:" + std::to_string(port) + "/0");
    options.tls.ca = certificates.ca();
    return options;
  }

  Certificates certificates;
  int port = free_port();
  RedisServer server;
};

int listen_on_loopback() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  listen(fd, 1);
  return fd;
}

int port_of(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

/// Returns the reply to a first command.
std::string outcome(const redis::ClientOptions& options) {
  loop::Loop loop;
  ServerClient client(loop, options);
  return call(loop, client, {"PING"});
}

}  // namespace

TEST_CASE("TLS: the certificate of the server is verified by chain and by name") {
  const TlsServer tls;
  CHECK(outcome(tls.options()) == "PONG");

  auto options = tls.options();
  options.tls.server_name = "redis.test";
  CHECK(outcome(options) == "PONG");
  options.tls.server_name = "a.wild.test";
  CHECK(outcome(options) == "PONG");
  for (const char* name : {"other.test", "wild.test", "a.b.wild.test", "127.0.0.2", "edis.test"}) {
    INFO(name);
    options.tls.server_name = name;
    const std::string answer = outcome(options);
    CHECK(has(answer, "not_sent"));
    CHECK(has(answer, "certificate is not accepted"));
    CHECK(has(answer, "mismatch"));
  }

  options = tls.options();
  options.tls.ca = tls.certificates.other_ca();
  CHECK(has(outcome(options), "certificate is not accepted: self-signed certificate"));
  options.tls.ca.clear();  // the default of the system
  CHECK(has(outcome(options), "certificate is not accepted: self-signed certificate"));
}

TEST_CASE("TLS: an expired certificate is refused") {
  const Certificates certificates;
  const TlsServer tls(TlsServer::Clients::anybody, certificates.expired_cert());
  CHECK(has(outcome(tls.options()), "certificate is not accepted: certificate has expired"));
}

TEST_CASE("TLS: a server may require a client certificate") {
  const TlsServer tls(TlsServer::Clients::with_certificate);
  auto options = tls.options();
  CHECK(has(outcome(options), "certificate required"));
  options.tls.cert = tls.certificates.client_both();
  CHECK(outcome(options) == "PONG");
  options.tls.cert = tls.certificates.client_cert();
  options.tls.key = tls.certificates.client_key();
  CHECK(outcome(options) == "PONG");
  options.tls.key = tls.certificates.server_key();
  CHECK(has(outcome(options), "tls_key " + options.tls.key + ": key values mismatch"));
  options.tls.key = tls.certificates.locked_key();  // no passphrase is requested
  CHECK(has(outcome(options), "tls_key " + options.tls.key + ": "));
  options.tls.key = "/none.key";
  CHECK(has(outcome(options), "tls_key /none.key: "));
  options.tls.ca = "/none.pem";
  CHECK(has(outcome(options), "tls_ca /none.pem: "));
}

TEST_CASE("TLS: files are read for each connection") {
  const TlsServer tls;
  const TempDir dir;
  const std::string ca = dir / "ca.pem";
  std::filesystem::copy_file(tls.certificates.other_ca(), ca);
  auto options = tls.options();
  options.tls.ca = ca;
  loop::Loop loop;
  ServerClient client(loop, options);
  CHECK(has(call(loop, client, {"PING"}), "self-signed"));
  std::filesystem::copy_file(tls.certificates.ca(), ca,
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(turn_until(loop, [&] { return client.connected(); }));
}

TEST_CASE("TLS: a connection fails with a clear reason if only one side uses TLS") {
  const TlsServer tls;
  auto options = tls.options();
  options.url.server.port = static_cast<std::uint16_t>(tls.server.port());
  options.connect_timeout = 3s;  // in total, including the time to load OpenSSL
  CHECK(has(outcome(options), "check that this port uses TLS"));
  options = tls.options();
  options.url.tls = false;
  CHECK(has(outcome(options), "the connection "));

  // A server of another kind, which sends data at once.
  const int listener = listen_on_loopback();
  std::thread speaker([listener] {
    const int peer = accept(listener, nullptr, nullptr);
    send(peer, "hello there\r\n", 13, MSG_NOSIGNAL);
    char byte = 0;
    while (recv(peer, &byte, 1, 0) > 0) continue;
    close(peer);
  });
  options = tls.options();
  options.url.server.port = static_cast<std::uint16_t>(port_of(listener));
  CHECK(has(outcome(options), "the server does not use TLS on this port"));
  shutdown(listener, SHUT_RDWR);
  close(listener);
  speaker.join();
}

TEST_CASE("TLS: large data passes in both directions in order, and messages arrive") {
  const TlsServer tls;
  loop::Loop loop;
  ServerClient client(loop, tls.options());
  const std::string large(std::size_t{5} << 20, 'x');
  int good = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string key = "k" + std::to_string(i);
    client.call({"SET", key, large + key});
    client.call({"GET", key}, [&, key](const redis::Answer& answer) {
      good += answer.reply.text() == large + key ? 1 : 0;
    });
  }
  CHECK(turn_until(loop, [&] { return good == 8; }));

  redis::Subscriber subscriber(loop, tls.options());
  std::string heard;
  const auto subscription =
      subscriber.subscribe("c", [&](std::string_view, std::string_view said) { heard = said; });
  CHECK(turn_until(loop, [&] { return subscriber.connected(); }));
  client.call({"PUBLISH", "c", "hello"});
  CHECK(turn_until(loop, [&] { return heard == "hello"; }));
}

TEST_CASE(
    "TLS: a client reconnects to a restarted server, and to a server that hangs in the handshake") {
  TlsServer tls;
  loop::Loop loop;
  auto options = tls.options();
  options.connect_timeout = options.command_timeout = std::chrono::seconds(2);
  ServerClient client(loop, options);
  CHECK(call(loop, client, {"PING"}) == "PONG");
  tls.server.kill();
  CHECK(turn_until(loop, [&] { return !client.connected(); }));
  tls.server.start();
  CHECK(turn_until(loop, [&] { return client.connected(); }));
  tls.server.pause();
  CHECK(has(call(loop, client, {"PING"}), "lost"));
  CHECK(has(call(loop, client, {"PING"}), "not_sent"));
  CHECK(turn_until(loop, [&] { return has(client.error(), "TLS handshake"); }));
  tls.server.resume();
  CHECK(turn_until(loop, [&] { return client.connected(); }));
}

TEST_CASE("TLS: login and database apply") {
  const TlsServer tls(TlsServer::Clients::anybody, "", {"user bob on >secret ~* &* +@all"});
  auto options = tls.options();
  options.url.user = "bob";
  options.url.password = "secret";
  options.url.db = 3;
  loop::Loop loop;
  ServerClient client(loop, options);
  CHECK(call(loop, client, {"ACL", "WHOAMI"}) == "bob");
  CHECK(has(call(loop, client, {"CLIENT", "INFO"}), "db=3"));
}

TEST_CASE("TLS: nodes of a cluster are connected with TLS if its URL is rediss") {
  TlsServer tls(TlsServer::Clients::anybody, "", {"cluster-enabled yes", "tls-cluster yes"});
  CHECK(tls.server.command({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}) == "OK");
  auto options = tls.options();
  options.url = redis::parse_url("rediss+cluster://127.0.0.1:" + std::to_string(tls.port));
  wait_until("the cluster", [&] {
    return has(tls.server.command({"CLUSTER", "INFO"}), "cluster_state:ok");
  });
  loop::Loop loop;
  ServerClient client(loop, options);
  CHECK(call(loop, client, {"SET", "k", "1"}) == "OK");
  redis::Subscriber subscriber(loop, options);
  int heard = 0;
  const auto channel =
      subscriber.subscribe("c", [&](std::string_view, std::string_view) { ++heard; });
  CHECK(turn_until(loop, [&] { return subscriber.connected(); }));
  client.call({"PUBLISH", "c", "x"});
  CHECK(turn_until(loop, [&] { return heard == 1; }));

  options.tls.ca.clear();
  ServerClient mistrustful(loop, options);
  CHECK(has(call(loop, mistrustful, {"SET", "k", "1"}), "not accepted"));
}

}  // namespace tls_test

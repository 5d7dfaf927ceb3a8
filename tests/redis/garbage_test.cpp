// Peers that are not Redis: their data must not affect more than one connection.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "loop/watch.hpp"
#include "redis/server_client.hpp"
#include "redis/subscriber.hpp"

using namespace w8y;
using namespace w8y::test;
using redis::ServerClient;

namespace garbage_test {
namespace {

/// Peer that sends the same bytes on each connection, and may then close it.
class Peer {
 public:
  Peer(loop::Loop& loop, std::string says, bool hang_up = false)
      : says_(std::move(says)), hang_up_(hang_up) {
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(fd_, 10) == 0);
    watch_ = std::make_unique<loop::Watch>(loop, fd_, [this](bool, bool) { welcome(); });
    watch_->want(true, false);
  }
  ~Peer() {
    watch_.reset();
    close(fd_);
    for (const int fd : guests_) close(fd);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] std::string path() const { return dir_ / "peer.sock"; }
  [[nodiscard]] int guests() const { return count_; }

 private:
  void welcome() {
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    ++count_;
    [[maybe_unused]] const auto sent = send(fd, says_.data(), says_.size(), MSG_NOSIGNAL);
    if (hang_up_) {
      close(fd);
    } else {
      guests_.push_back(fd);
    }
  }

  TempDir dir_;
  std::string says_;
  bool hang_up_;
  int fd_ = -1;
  int count_ = 0;
  std::vector<int> guests_;
  std::unique_ptr<loop::Watch> watch_;
};

/// Replies to the handshake: to PING, and to the two commands that follow it.
const std::string handshake = "+PONG\r\n-ERR no\r\n-ERR no\r\n";

std::string first_error(const std::string& says, bool hang_up = false) {
  loop::Loop loop;
  Peer peer(loop, says, hang_up);
  auto options = options_for("unix://" + peer.path());
  options.connect_timeout = options.command_timeout = 200ms;
  ServerClient client(loop, options);
  const std::string answer = call(loop, client, {"PING"});
  CHECK_FALSE(has(answer, "(unanswered)"));
  CHECK(turn_until(loop, [&] { return peer.guests() >= 2; }));  // it reconnects
  return answer;
}

}  // namespace

TEST_CASE("invalid bytes instead of a handshake fail the connection") {
  CHECK(has(first_error("HTTP/1.1 400 Bad Request\r\n\r\n"), "the reply cannot be read"));
  CHECK(has(first_error(std::string(100, '\0')), "the reply cannot be read"));
  CHECK(has(first_error("*2147483647\r\n"), "the reply cannot be read"));
  CHECK(has(first_error("-ERR max number of clients reached\r\n", true), "max number"));
  CHECK(has(first_error("+PO", true), "connection"));
  CHECK(has(first_error("", true), "unix://"));
  CHECK(has(first_error(""), "no reply in time"));
  CHECK(has(first_error("$100\r\nhalf a reply"), "no reply in time"));
}

TEST_CASE("invalid bytes after a handshake fail the connection") {
  CHECK(has(first_error(handshake + "?!\r\n"), "lost: "));
  CHECK(has(first_error(handshake + "$100\r\nhalf a reply"), "no reply within 200 ms"));
  CHECK(has(first_error(handshake, true), "unix://"));
  CHECK(has(first_error(handshake + "+one\r\n+two\r\n"), "one"));  // the second closes it
}

TEST_CASE("a duplicate reply is not used for the next call, and neither are later replies") {
  loop::Loop loop;
  const std::string first = "*2\r\n$1\r\n1\r\n+one\r\n";
  Peer peer(loop, handshake + first + first + "*2\r\n$1\r\n2\r\n+two\r\n");
  ServerClient client(loop, options_for("unix://" + peer.path()));
  const redis::Script script{"any", "return 1", "0000000000000000000000000000000000000000"};
  Answers answers;
  for (int i = 0; i < 3; ++i) client.run(script, {}, {}, answers.callback());
  CHECK(turn_until(loop, [&] { return answers.all.size() == 3; }));
  CHECK(answers.all.front() == "one");
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(has(answers.all.at(i), "lost: "));
    CHECK(has(answers.all.at(i), "received the reply to another call"));
  }
  CHECK(turn_until(loop, [&] { return peer.guests() >= 2; }));
}

TEST_CASE("an endless reply fails the connection") {
  loop::Loop loop;
  Peer peer(loop, handshake + "+" + std::string(100'000, 'a'));
  ServerClient client(loop, options_for("unix://" + peer.path()));
  CHECK(has(call(loop, client, {"PING"}), "without an end"));
}

TEST_CASE("a subscriber reconnects after invalid bytes") {
  for (const std::string& says :
       {std::string("garbage\r\n"), handshake + "+PONG\r\n+PONG\r\n+PONG\r\n",
        handshake + "*3\r\n$7\r\nmessage\r\n*0\r\n:1\r\n*0\r\n?",
        handshake + "*1\r\n$9\r\nsubscribe\r\n*0\r\n*0\r\n*0\r\n", handshake}) {
    loop::Loop loop;
    Peer peer(loop, says);
    auto options = options_for("unix://" + peer.path());
    options.connect_timeout = options.command_timeout = 100ms;
    redis::Subscriber subscriber(loop, options);
    int heard = 0;
    const auto wish = subscriber.subscribe("c", [&](auto, auto) { ++heard; });
    CHECK(turn_until(loop, [&] { return peer.guests() >= 2; }));
    CHECK(heard == 0);
  }
}

}  // namespace garbage_test

#include "loop/socket_transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "loop/loop.hpp"

namespace w8y::loop {

namespace {

void set_option(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);  // an optimization; errors are ignored
}

void prepare_tcp(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  // Detects a peer that disappears without closing the connection, even while no request is in
  // flight.
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

/// Whether the socket is connected to itself. If no process listens on a port of the ephemeral
/// range, TCP may connect a socket to itself. It would receive its own output and keep the port
/// from its owner.
bool is_own_peer(int fd) {
  Address own;
  Address peer;
  own.length = peer.length = sizeof own.storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own.storage), &own.length) < 0) return false;
  if (own.family() == AF_UNIX) return false;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) < 0) return false;
  return own.length == peer.length && std::memcmp(&own.storage, &peer.storage, own.length) == 0;
}

}  // namespace

SocketTransport::SocketTransport(Loop& loop, Endpoint place, Duration timeout, Handler& handler)
    : loop_(loop),
      place_(std::move(place)),
      handler_(handler),
      deadline_(loop.now() + timeout),
      timer_(loop.timers()) {}

SocketTransport::~SocketTransport() {
  drop_socket();
}

void SocketTransport::connect() {
  if (auto known = known_addresses(place_)) {
    addresses_ = *std::move(known);
    try_next();
    return;
  }
  try {
    state_ = State::looking_up;
    lookup_ =
        std::make_unique<Lookup>(loop_, place_.host, place_.port,
                                 [this](std::vector<Address> addresses, const std::string& why) {
                                   on_addresses(std::move(addresses), why);
                                 });
    timer_.set(deadline_, [this] {
      lookup_.reset();
      problem_ = "the host name was not resolved in time";
      give_up();
    });
  } catch (const std::exception& error) {
    problem_ = error.what();
    give_up();
  }
}

void SocketTransport::on_addresses(std::vector<Address> addresses, const std::string& why) {
  if (state_ != State::looking_up) return;
  addresses_ = std::move(addresses);
  if (addresses_.empty()) problem_ = why;
  try_next();
}

void SocketTransport::try_next() {
  drop_socket();
  while (next_ < addresses_.size()) {
    const auto left = static_cast<Duration::rep>(addresses_.size() - next_);
    const Attempt attempt = try_address(addresses_[next_++]);
    if (attempt == Attempt::failed) continue;
    state_ = State::connecting;
    const Instant now = loop_.now();
    if (attempt == Attempt::connected) {
      timer_.set(now, [this] { on_connected(); });
      return;
    }
    timer_.set(now + (deadline_ - now) / left, [this] {
      problem_ = "no reply in time";
      try_next();
    });
    return;
  }
  give_up();
}

SocketTransport::Attempt SocketTransport::try_address(const Address& address) {
  fd_ = Fd(socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd_) {
    if (address.family() != AF_UNIX) prepare_tcp(fd_.get());
    const int result = ::connect(fd_.get(), address.get(), address.length);
    if (result == 0 || errno == EINPROGRESS) {
      // A Unix socket is connected at once. A TCP connection is always reported when it becomes
      // writable.
      const bool connected = result == 0 && address.family() == AF_UNIX;
      try {
        watch_ = std::make_unique<Watch>(loop_, fd_.get(), [this](bool readable, bool writable) {
          on_event(readable, writable);
        });
        watch_->want(connected, !connected);
        return connected ? Attempt::connected : Attempt::started;
      } catch (const std::exception& error) {
        problem_ = error.what();
        drop_socket();
        return Attempt::failed;
      }
    }
  }
  // On a Unix socket, EAGAIN means that the backlog of the server is full.
  problem_ = errno == EAGAIN ? "the backlog of the server is full" : std::strerror(errno);
  drop_socket();
  return Attempt::failed;
}

void SocketTransport::on_event(bool readable, bool writable) {
  if (state_ == State::connecting) {
    on_connect_result();
    return;
  }
  if (readable && state_ == State::connected) read_some();
  if (writable && state_ == State::connected && !write_failed_) {
    watch_->want(true, false);
    handler_.on_room();
  }
}

void SocketTransport::on_connect_result() {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error == 0 && is_own_peer(fd_.get())) error = ECONNREFUSED;
  if (error != 0) {
    problem_ = std::strerror(error);
    watch_->want(false, false);
    timer_.set(loop_.now(), [this] { try_next(); });
    return;
  }
  on_connected();
}

void SocketTransport::on_connected() {
  timer_.cancel();
  state_ = State::connected;
  watch_->want(true, false);
  handler_.on_connected();
}

void SocketTransport::read_some() {
  thread_local char buffer[64U << 10];
  // Limited, so that much data on one connection does not delay the others.
  for (int rounds = 0; rounds < 16 && state_ == State::connected; ++rounds) {
    const ssize_t got = recv(fd_.get(), buffer, sizeof buffer, 0);
    if (got == 0) {
      fail("the server closed the connection");
    } else if (got > 0) {
      handler_.on_bytes({buffer, static_cast<std::size_t>(got)});
      if (static_cast<std::size_t>(got) < sizeof buffer) return;
    } else if (errno != EINTR) {
      if (errno != EAGAIN) fail(std::string("the connection broke: ") + std::strerror(errno));
      return;
    }
  }
}

std::size_t SocketTransport::write(std::string_view bytes) {
  if (state_ != State::connected || write_failed_) return 0;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t got = send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (got >= 0) {
      sent += static_cast<std::size_t>(got);
    } else if (errno == EAGAIN) {
      watch_->want(true, true);
      break;
    } else if (errno != EINTR) {
      write_failed_ = true;
      problem_ = std::string("the connection broke: ") + std::strerror(errno);
      // Reads the last message of the server before it closed the connection ("max number of
      // clients reached").
      timer_.set(loop_.now(), [this] {
        read_some();
        if (state_ == State::connected) fail(problem_);
      });
      break;
    }
  }
  return sent;
}

void SocketTransport::give_up() {
  state_ = State::failing;
  timer_.set(loop_.now(), [this] { fail("cannot connect: " + problem_); });
}

void SocketTransport::fail(const std::string& why) {
  close();
  handler_.on_broken(why);
}

void SocketTransport::close() {
  // Data that has not arrived yet must not arrive later, behind the data of the next connection.
  if (state_ == State::connected && fd_) {
    const linger at_once{1, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  state_ = State::closed;
  timer_.cancel();
  if (watch_) watch_->want(false, false);
}

void SocketTransport::drop_socket() {
  watch_.reset();
  fd_.reset();
}

}  // namespace w8y::loop

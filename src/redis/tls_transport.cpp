#include "redis/tls_transport.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "loop/loop.hpp"

namespace w8y::redis {

namespace {

/// Maximum number of encrypted bytes that wait for the transport below. Beyond it, write() accepts
/// no more.
constexpr std::size_t max_encrypted = std::size_t{256} << 10;

int length_of(std::string_view bytes) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(bytes.size(), most));
}

}  // namespace

void provide_tls() {
  provide_tls([](loop::Loop& loop, const ClientOptions& options,
                 Transport::Handler& handler) -> std::unique_ptr<Transport> {
    return std::make_unique<TlsTransport>(loop, options, handler);
  });
}

TlsTransport::TlsTransport(loop::Loop& loop, const ClientOptions& options,
                           Transport::Handler& handler)
    : loop_(loop),
      options_(options),
      handler_(handler),
      below_(loop, endpoint_of(options.url), options.connect_timeout,
             static_cast<Transport::Handler&>(*this)),
      timer_(loop.timers()) {}

void TlsTransport::connect() {
  // Set before OpenSSL is loaded, so that the load time counts. The connection has its own timeout
  // a little later, with a less precise reason.
  deadline_ = loop_.now() + options_.connect_timeout;
  try {
    ssl_ = make_tls_client(options_);
  } catch (const TlsError& error) {
    fail_later(error.what());
    return;
  }
  in_ = BIO_new(BIO_s_mem());
  out_ = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl_.get(), in_, out_);  // ssl_ owns them now
  state_ = State::connecting;
  below_.connect();
}

void TlsTransport::on_connected() {
  state_ = State::shaking;
  // A server without TLS may wait for the end of a line.
  timer_.set(deadline_,
             [this] { fail("no reply to the TLS handshake; check that this port uses TLS"); });
  shake();
}

void TlsTransport::shake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  const int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), result);
  // Also after a failure: the alert reports the reason to the server.
  const std::string why = error == SSL_ERROR_NONE || error == SSL_ERROR_WANT_READ
                              ? std::string()
                              : tls_problem(ssl_.get());
  flush();
  if (!why.empty()) return fail(why);
  if (error != SSL_ERROR_NONE || state_ != State::shaking) return;
  timer_.cancel();
  state_ = State::connected;
  handler_.on_connected();
}

void TlsTransport::on_bytes(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::closed) {
    // In parts, so that decrypted bytes are passed on before more are read.
    const std::string_view part = bytes.substr(0, std::size_t{64} << 10);
    bytes.remove_prefix(part.size());
    if (BIO_write(in_, part.data(), length_of(part)) != length_of(part))
      return fail("TLS: no memory");
    if (state_ == State::shaking) shake();
    if (state_ == State::connected) read_plain();
  }
}

void TlsTransport::read_plain() {
  thread_local char buffer[16U << 10];  // one TLS record
  while (state_ == State::connected) {
    ERR_clear_error();
    const int got = SSL_read(ssl_.get(), buffer, sizeof buffer);
    if (got > 0) {
      handler_.on_bytes({buffer, static_cast<std::size_t>(got)});
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), got);
    if (error == SSL_ERROR_ZERO_RETURN) return fail("the server closed the connection");
    if (error != SSL_ERROR_WANT_READ) return fail(tls_problem(ssl_.get()));
    flush();  // the reply to a key update
    return;
  }
}

std::size_t TlsTransport::write(std::string_view bytes) {
  std::size_t taken = 0;
  while (state_ == State::connected && taken < bytes.size() &&
         BIO_ctrl_pending(out_) < max_encrypted) {
    ERR_clear_error();
    const std::string_view rest = bytes.substr(taken);
    const int got = SSL_write(ssl_.get(), rest.data(), length_of(rest));
    if (got <= 0) {
      fail_later(tls_problem(ssl_.get()));
      break;
    }
    taken += static_cast<std::size_t>(got);
    flush();
  }
  wants_room_ = taken < bytes.size();
  return taken;
}

bool TlsTransport::flush() {
  while (!blocked_ && BIO_ctrl_pending(out_) > 0) {
    char* start = nullptr;
    const long length = BIO_get_mem_data(out_, &start);
    const std::size_t sent = below_.write({start, static_cast<std::size_t>(length)});
    blocked_ = sent < static_cast<std::size_t>(length);
    // Removes the bytes that were sent from the front of out_.
    thread_local char gone[16U << 10];
    for (std::size_t left = sent; left > 0;) {
      const int part = BIO_read(out_, gone, static_cast<int>(std::min(left, sizeof gone)));
      if (part <= 0) return false;
      left -= static_cast<std::size_t>(part);
    }
  }
  return !blocked_;
}

void TlsTransport::on_room() {
  blocked_ = false;
  if (flush() && state_ == State::connected && std::exchange(wants_room_, false))
    handler_.on_room();
}

void TlsTransport::on_broken(const std::string& why) {
  if (state_ == State::shaking) return fail("TLS handshake failed: " + why);
  fail(why);
}

void TlsTransport::fail(const std::string& why) {
  if (state_ == State::closed) return;
  close();
  handler_.on_broken(why);
}

void TlsTransport::fail_later(std::string why) {
  timer_.set(loop_.now(), [this, why = std::move(why)] { fail(why); });
}

void TlsTransport::close() {
  state_ = State::closed;
  timer_.cancel();
  below_.close();
}

}  // namespace w8y::redis

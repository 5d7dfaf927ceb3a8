// TLS over a SocketTransport: OpenSSL sees bytes in memory only, and our loop carries them.
#pragma once

#include <memory>
#include <string>

#include "core/timers.hpp"
#include "loop/socket_transport.hpp"
#include "redis/tls_context.hpp"
#include "redis/transport.hpp"

namespace w8y::redis {

/// For main(): URLs that ask for TLS have it from now on. OpenSSL itself does nothing until then.
void provide_tls();

class TlsTransport final : public Transport, private Transport::Handler {
 public:
  TlsTransport(loop::Loop& loop, const ClientOptions& options, Transport::Handler& handler);

  void connect() override;
  std::size_t write(std::string_view bytes) override;
  void close() override;

 private:
  enum class State {
    idle,
    connecting,  ///< the transport below
    shaking,     ///< the handshake of TLS
    connected,
    closed,
  };

  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_room() override;
  void on_broken(const std::string& why) override;

  void shake();
  void take_plain();
  /// Sends what OpenSSL has to send. True: all of it has gone.
  bool flush();
  void fail(const std::string& why);
  void fail_later(std::string why);

  loop::Loop& loop_;
  const ClientOptions options_;
  Transport::Handler& handler_;
  State state_ = State::idle;
  loop::SocketTransport below_;
  OwnedSsl ssl_;
  BIO* in_ = nullptr;   // of ssl_, as is the other
  BIO* out_ = nullptr;  // encrypted, not taken by the transport below yet
  bool blocked_ = false;
  bool wants_room_ = false;  // a write() took less than it was given
  Instant deadline_{};
  Timer timer_;
};

}  // namespace w8y::redis

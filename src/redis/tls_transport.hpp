// TLS over a SocketTransport: OpenSSL reads and writes memory only, and the loop sends and receives
// the bytes.
#pragma once

#include <string>

#include "core/timers.hpp"
#include "loop/socket_transport.hpp"
#include "redis/tls_context.hpp"
#include "redis/transport.hpp"

namespace w8y::redis {

/// Enables TLS for URLs that require it. Called by main(). OpenSSL itself is not initialized until
/// the first connection.
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
    shaking,     ///< the TLS handshake
    connected,
    closed,
  };

  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_room() override;
  void on_broken(const std::string& why) override;

  void shake();
  void read_plain();
  /// Sends the pending output of OpenSSL. True if all of it was sent.
  bool flush();
  void fail(const std::string& why);
  void fail_later(std::string why);

  loop::Loop& loop_;
  const ClientOptions options_;
  Transport::Handler& handler_;
  State state_ = State::idle;
  loop::SocketTransport below_;
  OwnedSsl ssl_;
  BIO* in_ = nullptr;   // owned by ssl_, as out_ is
  BIO* out_ = nullptr;  // encrypted, not accepted by the transport below yet
  bool blocked_ = false;
  bool wants_room_ = false;  // a write() accepted less than it was given
  Instant deadline_{};
  Timer timer_;
};

}  // namespace w8y::redis

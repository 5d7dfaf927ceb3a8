#include "redis/transport.hpp"

#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "loop/socket_transport.hpp"
#include "redis/options.hpp"

namespace w8y::redis {

namespace {

TlsMaker tls_maker = nullptr;

/// Transport that reports the missing library from the loop, as a failed connection would.
class NoTransport final : public Transport {
 public:
  NoTransport(loop::Loop& loop, Handler& handler)
      : loop_(loop), handler_(handler), timer_(loop.timers()) {}
  void connect() override {
    timer_.set(loop_.now(), [this] { handler_.on_broken("this program was built without TLS"); });
  }
  std::size_t write(std::string_view) override { return 0; }
  void close() override { timer_.cancel(); }

 private:
  loop::Loop& loop_;
  Handler& handler_;
  Timer timer_;
};

}  // namespace

loop::Endpoint endpoint_of(const Url& url) {
  if (url.kind == Url::Kind::unix_socket) return {{}, 0, url.path};
  return {url.server.host, url.server.port};
}

std::unique_ptr<Transport> make_transport(loop::Loop& loop, const ClientOptions& options,
                                          Transport::Handler& handler) {
  if (!options.url.tls)
    return std::make_unique<loop::SocketTransport>(loop, endpoint_of(options.url),
                                                   options.connect_timeout, handler);
  if (tls_maker == nullptr) return std::make_unique<NoTransport>(loop, handler);
  return tls_maker(loop, options, handler);
}

void provide_tls(TlsMaker maker) {
  tls_maker = maker;
}

}  // namespace w8y::redis

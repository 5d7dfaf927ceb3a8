#include "http/server.hpp"

#include <microhttpd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "http/connection.hpp"
#include "http/target.hpp"
#include "http/unix_listener.hpp"
#include "loop/loop.hpp"

namespace w8y::http {

namespace {

/// Number of consecutive wake-ups without an event after which the HTTP library pauses. Without a
/// free descriptor for a new client, it would wake up endlessly.
constexpr int idle_turns = 64;
constexpr Duration idle_pause = std::chrono::milliseconds(100);

/// Time in which a new client is expected to send its request.
constexpr Duration asking_timeout = std::chrono::seconds(1);
constexpr Duration room_pause = std::chrono::milliseconds(20);

/// Maximum number of runs of the HTTP library before the server stops. The library needs one run
/// for the response to a resumed connection, one to send it, and one to end it. A client that is
/// still not finished does not read.
constexpr int last_turns = 8;

}  // namespace

class HttpServer::Impl {
 public:
  Impl(loop::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
       HttpLimits limits, HttpGate gate, Complain complain)
      : shared_{loop, handler, limits, std::move(gate), [this] { wake(); }},
        complain_(std::move(complain)),
        listener_(std::move(listener)),
        soon_(loop.timers()),
        pause_(loop.timers()),
        room_(loop.timers()) {
    start();
    const int epoll_fd = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    watch_ = std::make_unique<loop::Watch>(loop, epoll_fd, [this](bool, bool) { on_ready(); });
    watch_->want(true, false);
  }

  ~Impl() {
    shared_.stopping = true;
    watch_.reset();
    for (auto& [mhd, connection] : connections_) connection->stop();
    for (int i = 0; i < last_turns; ++i) MHD_run(daemon_);
    for (auto& [mhd, connection] : connections_) connection->stop();
    MHD_stop_daemon(daemon_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::size_t connections() const { return connections_.size(); }

 private:
  void start();
  void run();
  void on_ready();
  void make_room();
  void wake() {
    soon_.set(shared_.loop.now(), [this] { run(); });
  }

  HttpConnection* find(MHD_Connection* mhd) {
    idle_ = 0;
    const auto found = connections_.find(mhd);
    return found == connections_.end() ? nullptr : found->second.get();
  }

  // Trampolines for the library, which is written in C and does not support exceptions.
  static void* on_target(void* self, const char* target, MHD_Connection* mhd) noexcept;
  static MHD_Result on_data(void* self, MHD_Connection* mhd, const char*, const char* method,
                            const char* version, const char* data, std::size_t* size,
                            void**) noexcept;
  static void on_completed(void* self, MHD_Connection* mhd, void**,
                           MHD_RequestTerminationCode) noexcept;
  static void on_connection(void* self, MHD_Connection* mhd, void**,
                            MHD_ConnectionNotificationCode code) noexcept;
  static void on_complaint(void* self, const char* format, va_list arguments) noexcept;

  HttpShared shared_;
  Complain complain_;
  std::unique_ptr<Listener> listener_;
  Timer soon_;   ///< next time at which the HTTP library needs to run
  Timer pause_;  ///< pending: the descriptor is not watched
  Timer room_;   ///< pending: waits until a client makes room
  std::map<MHD_Connection*, std::unique_ptr<HttpConnection>> connections_;
  MHD_Daemon* daemon_ = nullptr;
  std::unique_ptr<loop::Watch> watch_;
  bool crowded_ = false;  ///< whether a client has connected beyond the limit
  int idle_ = 0;
};

void HttpServer::Impl::start() {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(shared_.limits.request_timeout);
  // The library would decode in place and end strings at a %00. HttpTarget decodes the raw target
  // instead.
  const auto leave_as_is = [](void*, MHD_Connection*, char* text) { return std::strlen(text); };
  using Unescape = std::size_t (*)(void*, MHD_Connection*, char*);
  daemon_ = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, nullptr, nullptr, &on_data,
      this,                                             //
      MHD_OPTION_EXTERNAL_LOGGER, &on_complaint, this,  // first, so that errors at start are logged
      MHD_OPTION_LISTEN_SOCKET, listener_->release(),   //
      MHD_OPTION_CONNECTION_LIMIT,
      static_cast<unsigned>(shared_.limits.connections + shared_.limits.spare),
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(seconds.count()),
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, shared_.limits.head,  //
      MHD_OPTION_URI_LOG_CALLBACK, &on_target, this,            //
      MHD_OPTION_UNESCAPE_CALLBACK, static_cast<Unescape>(leave_as_is), nullptr,
      MHD_OPTION_NOTIFY_COMPLETED, &on_completed, this,    //
      MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this,  //
      MHD_OPTION_END);
  if (daemon_ == nullptr)
    throw std::runtime_error("cannot start the status server on " + listener_->address());
}

/// Closes connections until the number is at its limit. First are clients without a complete
/// request, after asking_timeout; then clients that read their response slowly; then the oldest
/// clients that have not had the time to send a request. The bytes that a client has sent are
/// always examined before. The library removes a connection one run after it was closed.
void HttpServer::Impl::make_room() {
  if (shared_.limits.spare == 0) return;
  std::vector<HttpConnection*> idle;
  std::vector<HttpConnection*> slow;
  std::size_t staying = 0;
  for (const auto& [mhd, connection] : connections_) {
    if (connection->closing()) continue;
    ++staying;
    if (connection->idle() && connection->examined()) idle.push_back(connection.get());
    if (connection->reading_for() >= shared_.limits.reading_timeout)
      slow.push_back(connection.get());
  }
  const auto oldest_last = [](std::vector<HttpConnection*>& of) {
    std::ranges::sort(of, std::greater<>(), &HttpConnection::turn);
  };
  oldest_last(idle);
  oldest_last(slow);
  for (; staying > shared_.limits.connections; --staying) {
    const bool had_time = !idle.empty() && idle.back()->idle_for() >= asking_timeout;
    std::vector<HttpConnection*>& from = had_time || slow.empty() ? idle : slow;
    if (from.empty()) break;
    from.back()->close();
    from.pop_back();
  }
  if (staying <= shared_.limits.connections) return;
  crowded_ = true;
  // At its limit the library accepts no client, so that no new client would cause a run.
  room_.set(shared_.loop.now() + room_pause, [this] { run(); });
}

void HttpServer::Impl::run() {
  ++shared_.checks;
  MHD_run(daemon_);
  if (std::exchange(crowded_, false)) make_room();
  MHD_UNSIGNED_LONG_LONG timeout = 0;
  if (MHD_get_timeout(daemon_, &timeout) == MHD_YES) {
    const auto at = shared_.loop.now() + std::chrono::milliseconds(timeout);
    if (!soon_.pending() || at < *soon_.deadline()) soon_.set(at, [this] { run(); });
  }
}

void HttpServer::Impl::on_ready() {
  ++idle_;
  run();
  if (idle_ < idle_turns) return;
  idle_ = 0;
  watch_->want(false, false);
  pause_.set(shared_.loop.now() + idle_pause, [this] { watch_->want(true, false); });
}

void* HttpServer::Impl::on_target(void* self, const char* target, MHD_Connection* mhd) noexcept {
  if (auto* connection = static_cast<Impl*>(self)->find(mhd)) connection->on_target(target);
  // The library keeps a record of each parameter in the memory of the connection. A few hundred
  // parameters leave no room for the header fields, and the request hangs until its timeout.
  // Therefore the query is hidden from the library, which splits the target in place after this
  // call.
  if (has_too_many_parameters(target)) const_cast<char*>(std::strchr(target, '?'))[1] = '\0';
  return nullptr;
}

MHD_Result HttpServer::Impl::on_data(void* self, MHD_Connection* mhd, const char*,
                                     const char* method, const char* version, const char* data,
                                     std::size_t* size, void**) noexcept {
  auto* connection = static_cast<Impl*>(self)->find(mhd);
  if (connection == nullptr) return MHD_NO;
  const std::string_view bytes(data, std::exchange(*size, 0));
  return connection->on_data(method, version, bytes);
}

void HttpServer::Impl::on_completed(void* self, MHD_Connection* mhd, void**,
                                    MHD_RequestTerminationCode) noexcept {
  if (auto* connection = static_cast<Impl*>(self)->find(mhd)) connection->on_completed();
}

void HttpServer::Impl::on_connection(void* self, MHD_Connection* mhd, void**,
                                     MHD_ConnectionNotificationCode code) noexcept {
  auto* impl = static_cast<Impl*>(self);
  impl->idle_ = 0;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    impl->connections_.erase(mhd);
    // At its limit the library no longer listens. It checks the limit only when it runs.
    impl->wake();
  } else {
    impl->connections_[mhd] = std::make_unique<HttpConnection>(impl->shared_, mhd);
    impl->crowded_ = impl->connections_.size() > impl->shared_.limits.connections;
  }
}

void HttpServer::Impl::on_complaint(void* self, const char* format, va_list arguments) noexcept {
  auto* impl = static_cast<Impl*>(self);
  if (!impl->complain_) return;
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string_view line(text.data());
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  impl->complain_(std::string(line));
}

HttpServer::HttpServer(loop::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
                       HttpLimits limits, HttpGate gate, Complain complain)
    : impl_(std::make_unique<Impl>(loop, std::move(listener), handler, limits, std::move(gate),
                                   std::move(complain))) {}

HttpServer::HttpServer(loop::Loop& loop, const std::string& path, HttpHandler& handler,
                       HttpLimits limits, HttpGate gate, Complain complain)
    : HttpServer(loop, std::make_unique<UnixListener>(path), handler, limits, std::move(gate),
                 std::move(complain)) {}

HttpServer::~HttpServer() = default;

std::size_t HttpServer::connections() const {
  return impl_->connections();
}

}  // namespace w8y::http

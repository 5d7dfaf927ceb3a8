// Status server: HTTP on a listening socket, on the thread of the loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "http/http.hpp"
#include "http/listener.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::http {

struct HttpLimits {
  std::size_t connections = 64;  ///< open connections; further clients wait in the backlog
  /// Connections beyond `connections`. When a client uses one of them, the server closes the
  /// connection that has been idle longest. 0: further clients wait.
  std::size_t spare = 0;
  std::size_t body = std::size_t{1} << 20;  ///< bytes; a longer body is refused with 413
  /// Bytes of request line, header fields and buffers of one connection.
  std::size_t head = std::size_t{32} << 10;
  /// Bytes that one stream may queue for a slow reader.
  std::size_t stream = std::size_t{256} << 10;
  std::size_t streams = 48;  ///< open streams, in a ClientPool; 503 for more
  /// Bytes of responses that clients have not read, in a ClientPool. A long response that exceeds
  /// the limit is replaced by a 503. One trusted client and one client that is not trusted may each
  /// have a response that exceeds it.
  std::size_t unread = std::size_t{256} << 20;
  /// Time from the connection, or from the end of the previous request, to the end of a request.
  /// Also the time for which a client may read nothing of its response.
  Duration request_timeout = std::chrono::seconds(10);
  /// A client that has not read its response within this time makes room for others (`spare`).
  Duration reading_timeout = std::chrono::seconds(2);
  Duration response_timeout = std::chrono::seconds(60);  ///< for a response, except streams
};

/// Decision of a gate.
struct HttpVerdict {
  std::unique_ptr<HttpResponse> refusal;  ///< nullptr: the request is accepted
  bool trusted = false;                   ///< as HttpReply::trusted()
};

/// Decides whether a request is accepted. Called with the head of each request, before its body is
/// read. The path is empty if it cannot be parsed. The unix socket has no gate: the mode of its
/// file decides which users may connect, and all its clients are trusted. TCP has TcpGate.
using HttpGate = std::function<HttpVerdict(const HttpRequest&)>;

/// HTTP server that listens during its lifetime. Its destructor ends all streams, responds to
/// waiting clients, and removes the file of the socket.
class HttpServer {
 public:
  using Complain = std::function<void(const std::string&)>;

  /// `handler` must outlive the server. `complain` receives messages of the HTTP library for the
  /// log.
  HttpServer(loop::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
             HttpLimits limits = {}, HttpGate gate = {}, Complain complain = {});
  /// Listens on a unix socket. Throws as UnixListener does.
  HttpServer(loop::Loop& loop, const std::string& path, HttpHandler& handler,
             HttpLimits limits = {}, HttpGate gate = {}, Complain complain = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::http

// The status server: HTTP on a unix socket, on the loop's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <w8y/clock.hpp>

#include "ops/http.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::ops {

struct HttpLimits {
  std::size_t connections = 64;              ///< more wait in the backlog
  std::size_t body = std::size_t{1} << 20;   ///< longer: 413
  std::size_t head = std::size_t{32} << 10;  ///< request line, headers and buffers of a connection
  std::size_t stream = std::size_t{256} << 10;  ///< bytes that a slow reader of a stream may owe
  /// From the connection, or the end of the request before, to the end of a request; and how long
  /// a client may read nothing of what it is sent.
  Duration request_timeout = std::chrono::seconds(10);
  Duration response_timeout = std::chrono::seconds(60);  ///< for all of a response, streams apart
};

/// Who may ask: called with every request before the handler. An answer refuses. The unix socket
/// needs none, its file's mode says who may connect; a listener on TCP has to check token, Host and
/// Origin here.
using HttpGate = std::function<std::unique_ptr<HttpResponse>(const HttpRequest&)>;

/// Listens while it lives. Destroying it tells streams and waiting clients that it ends, and
/// removes the socket's file.
class HttpServer {
 public:
  using Complain = std::function<void(const std::string&)>;

  /// `handler` outlives the server. Throws std::runtime_error if it can't listen (UnixListener).
  /// `complain` gets what the HTTP library has to say, for the log.
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

}  // namespace w8y::ops

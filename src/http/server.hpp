// The status server: HTTP on a listening socket, on the loop's thread.
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
  std::size_t connections = 64;  ///< more wait in the backlog
  /// Places beyond these: who comes to one takes the place of the connection that has been idle
  /// for longest. 0: all wait.
  std::size_t spare = 0;
  std::size_t body = std::size_t{1} << 20;   ///< longer: 413
  std::size_t head = std::size_t{32} << 10;  ///< request line, headers and buffers of a connection
  std::size_t stream = std::size_t{256} << 10;  ///< bytes that a slow reader of a stream may owe
  std::size_t streams = 48;                     ///< open at once, in a ClientPool; 503 for more
  /// Bytes of answers that clients have not read, in a ClientPool; a long answer over this is a
  /// 503. A trusted client and one that is not may each have one that is longer.
  std::size_t unread = std::size_t{256} << 20;
  /// From the connection, or the end of the request before, to the end of a request; and how long
  /// a client may read nothing of what it is sent.
  Duration request_timeout = std::chrono::seconds(10);
  /// Who has had an answer for so long and has not read it makes room for others (`spare`).
  Duration reading_timeout = std::chrono::seconds(2);
  Duration response_timeout = std::chrono::seconds(60);  ///< for all of a response, streams apart
};

/// Decision of a gate.
struct HttpVerdict {
  std::unique_ptr<HttpResponse> refusal;  ///< nullptr: the request is accepted
  bool trusted = false;                   ///< as HttpReply::trusted()
};

/// Who may ask: called with the head of every request, before its body is read. A path that can't
/// be read is empty. The unix socket needs none, its file's mode says who may connect, and all its
/// clients are trusted; TCP has TcpGate.
using HttpGate = std::function<HttpVerdict(const HttpRequest&)>;

/// Listens while it lives. Destroying it tells streams and waiting clients that it ends, and
/// removes the socket's file.
class HttpServer {
 public:
  using Complain = std::function<void(const std::string&)>;

  /// `handler` outlives the server. `complain` gets what the HTTP library has to say, for the log.
  HttpServer(loop::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
             HttpLimits limits = {}, HttpGate gate = {}, Complain complain = {});
  /// On a unix socket. Throws as UnixListener does.
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

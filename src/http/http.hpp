// Requests and responses of the status API, independent of the HTTP library.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/endpoint.hpp"

namespace w8y::http {

struct HttpRequest {
  std::string method;             ///< HEAD is stored as GET
  std::vector<std::string> path;  ///< decoded segments; any bytes, including '/' and NUL
  std::map<std::string, std::string> query;
  std::string body;
  /// Header fields as received. TCP needs them, because any user can reach the port.
  std::string version;    ///< "HTTP/1.1"
  std::string client;     ///< IP address of the client
  std::size_t hosts = 0;  ///< number of Host fields
  std::string host;       ///< value of the first Host field
  std::string origin;
  std::string authorization;
  std::string content_type;
  std::string last_event_id;  ///< ID of the last event that a reconnecting client received
  std::string idempotency_key;
  bool has_body = false;
  std::string accept_encoding;
  bool over_tcp = false;  ///< whether the request came over TCP, so that any user may have sent it

  /// Returns the value of a parameter; nullopt if the request does not have it.
  [[nodiscard]] std::optional<std::string> parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::nullopt : std::optional(found->second);
  }
};

struct HttpResponse {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string cache = "no-store";  ///< Cache-Control; most responses are about items
  std::string allow;               ///< with 405: the methods that are allowed
  std::string challenge;           ///< with 401: the authentication scheme
  std::vector<std::pair<std::string, std::string>> headers;  ///< further header fields
};

/// Returns the response {"error": text}.
HttpResponse error_response(unsigned status, std::string_view text);

/// Response without an end, such as server-sent events.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// Queues bytes. Returns false if the client has disconnected, or was dropped because it reads
  /// too slowly.
  virtual bool push(std::string_view bytes) = 0;
  /// Ends the stream after the queued bytes.
  virtual void close() = 0;
  /// Returns the number of queued bytes.
  [[nodiscard]] virtual std::size_t owed() const { return 0; }
};

/// Handle for responding to one request. Only the first response counts. It is ignored if the
/// client has disconnected. If the handle is destroyed without a response, the client receives a
/// 500. May outlive the server.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void send(HttpResponse response) = 0;
  /// Starts a stream with status 200. If the queued bytes exceed the limit of the stream, the
  /// stream ends with `last_words`.
  virtual std::shared_ptr<HttpStream> stream(std::string content_type, std::string last_words) = 0;
  /// Sets the response for the case that the server stops, or this handle is destroyed, before
  /// send().
  virtual void set_last_response(HttpResponse /*response*/) {}
  /// Counts the request as an open stream until its response (HttpLimits::streams). False: there
  /// are too many, and the client receives a 503.
  virtual bool hold_stream() { return true; }
  /// Returns whether the client is connected to the unix socket or sent the token. A trusted client
  /// may use all of each ClientPool.
  [[nodiscard]] virtual bool trusted() const { return false; }
};
using HttpReplyPtr = std::shared_ptr<HttpReply>;

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Handles a request. Responds at once or later.
  virtual void handle(const HttpRequest& request, HttpReplyPtr reply) = 0;
  /// Returns the maximum length of the body of a request, by its head; bytes. A lower value than
  /// HttpLimits::body has no effect. The body of a request that the gate refuses is not kept.
  [[nodiscard]] virtual std::size_t max_body(const HttpRequest& /*request*/) const { return 0; }
};

/// Finds the handler for a path. Responds with 404 if the path is unknown, and with 405 if it does
/// not have the method.
class Router : public HttpHandler {
 public:
  using Handler = std::function<void(const HttpRequest&, const HttpReplyPtr&)>;

  void on(const Endpoint& endpoint, Handler handler);
  void handle(const HttpRequest& request, HttpReplyPtr reply) override;
  [[nodiscard]] std::size_t max_body(const HttpRequest& request) const override;

  struct Route {
    Endpoint endpoint;
    std::vector<std::string> pattern;
    Handler handler;
  };
  /// Returns the routes in the order in which they were added.
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace w8y::http

// Requests and responses, as the status API sees them: nothing here knows the HTTP library.
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
  std::string method;             ///< HEAD comes as GET
  std::vector<std::string> path;  ///< segments, decoded: any bytes, '/' and NUL too
  std::map<std::string, std::string> query;
  std::string body;
  /// For a listener that can't trust whoever reaches it (TCP): headers as they came.
  std::string version;    ///< "HTTP/1.1"
  std::string client;     ///< IP address of the client
  std::size_t hosts = 0;  ///< Host headers
  std::string host;       ///< the first of them
  std::string origin;
  std::string authorization;
  std::string content_type;
  std::string last_event_id;  ///< of who reads a stream of events again
  bool has_body = false;
  std::string accept_encoding;
  bool over_tcp = false;  ///< from any user who reaches the port
};

struct HttpResponse {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string cache = "no-store";  ///< Cache-Control: answers tell of items, as a rule
  std::string allow;               ///< with 405: the methods that would do
  std::string challenge;           ///< with 401: how to show who asks
  std::vector<std::pair<std::string, std::string>> headers;  ///< besides these
};

/// {"error": text}
HttpResponse error_response(unsigned status, std::string_view text);

/// A response without an end, such as server-sent events.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// Queues bytes. False: the client is gone, or was dropped because it didn't keep up.
  virtual bool push(std::string_view bytes) = 0;
  /// Ends it after what is queued.
  virtual void close() = 0;
  /// Bytes that are queued.
  [[nodiscard]] virtual std::size_t owed() const { return 0; }
};

/// The way back to one client. The first answer counts; an answer to a client that is gone does
/// nothing. Destroyed without one, the client gets a 500. May outlive the server.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void send(HttpResponse response) = 0;
  /// Status 200. What is pushed over the stream's bound ends it, with `last_words` as its last
  /// bytes.
  virtual std::shared_ptr<HttpStream> stream(std::string content_type, std::string last_words) = 0;
  /// The client is connected to the unix socket or has shown the token: it may use all of each
  /// ClientPool.
  [[nodiscard]] virtual bool trusted() const { return false; }
};
using HttpReplyPtr = std::shared_ptr<HttpReply>;

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Answers now or later.
  virtual void handle(const HttpRequest& request, HttpReplyPtr reply) = 0;
};

/// Finds who answers a path. No such path: 404; no such method there: 405.
class Router : public HttpHandler {
 public:
  using Handler = std::function<void(const HttpRequest&, const HttpReplyPtr&)>;

  void on(const Endpoint& endpoint, Handler handler);
  void handle(const HttpRequest& request, HttpReplyPtr reply) override;

  struct Route {
    Endpoint endpoint;
    std::vector<std::string> pattern;
    Handler handler;
  };
  /// As they were added.
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace w8y::http

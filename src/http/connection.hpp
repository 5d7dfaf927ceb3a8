// One client of the status server and its current request.
#pragma once

#include <microhttpd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/timers.hpp"
#include "http/client_pool.hpp"
#include "http/http.hpp"
#include "http/server.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::http {

/// State that all connections of a server share.
struct HttpShared {
  loop::Loop& loop;
  HttpHandler& handler;
  HttpLimits limits;
  HttpGate gate;
  std::function<void()> wake;  ///< the HTTP library has work: runs it soon, not at once
  bool stopping = false;
  std::uint64_t turns = 0;   ///< number of requests that the server has started to wait for
  std::uint64_t checks = 0;  ///< number of times that the HTTP library has run
  ClientPool streams{limits.streams};  ///< open streams
  ClientPool unread{limits.unread};    ///< bytes of responses that their clients have not read
};

/// Connection of one client. Its states:
/// - receiving: the request is not complete.
/// - waiting: the handler has the request. The HTTP library has suspended the connection, unless
///   the response came at once.
/// - answered: there is a response, and the HTTP library sends it. The next state is receiving.
class HttpConnection {
 public:
  HttpConnection(HttpShared& shared, MHD_Connection* mhd);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Callbacks of the HTTP library.
  void on_target(std::string target);
  MHD_Result on_data(const char* method, const char* version, std::string_view data);
  void on_completed();

  /// Returns whether the request is incomplete, so that the server waits for the client.
  [[nodiscard]] bool idle() const;
  /// Returns the time since the server started to wait for the request.
  [[nodiscard]] Duration idle_for() const;
  /// Returns whether the server has examined the bytes that the client sent with its connection.
  [[nodiscard]] bool examined() const { return shared_.checks >= first_look_ + 2; }
  /// Returns the time for which a response, not a stream, has been ready for the client; 0 without
  /// a response.
  [[nodiscard]] Duration reading_for() const;
  /// Returns the number of the request. It is greater than the numbers of all requests that the
  /// server started to wait for earlier.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }
  [[nodiscard]] bool closing() const { return closing_; }
  void close();

  /// Called when the server stops. Responds to the waiting request, ends the stream, and leaves no
  /// connection suspended.
  void stop();

 private:
  class Exchange;
  class Reply;
  class Stream;

  void begin();
  const char* read_head(const char* method, const char* version);
  MHD_Result on_headers(const char* method, const char* version);
  MHD_Result on_body(std::string_view data);
  MHD_Result on_complete();
  MHD_Result refuse_now(unsigned status, const std::string& why);
  void hand_over();
  MHD_Result respond();
  MHD_Result queue(unsigned status, MHD_Response* response, const HttpResponse& about);
  void suspend();
  void resume();
  void set_deadline(Duration time);

  HttpShared& shared_;
  MHD_Connection* mhd_;
  int fd_;
  Timer deadline_;
  std::shared_ptr<Exchange> exchange_;  ///< never null; replaced with each request
  std::uint64_t turn_ = 0;
  const std::uint64_t first_look_;
  Instant started_{};
  Instant responded_{};
  bool suspended_ = false;
  bool closing_ = false;
};

}  // namespace w8y::http

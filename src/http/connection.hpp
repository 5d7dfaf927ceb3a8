// One client of the status server, and the request it is at.
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

/// What the connections of a server share.
struct HttpShared {
  loop::Loop& loop;
  HttpHandler& handler;
  HttpLimits limits;
  HttpGate gate;
  std::function<void()> wake;  ///< the library has something to do: run it soon, not at once
  bool stopping = false;
  std::uint64_t turns = 0;             ///< requests that were waited for
  std::uint64_t looks = 0;             ///< of the library at what has come
  ClientPool streams{limits.streams};  ///< that are open
  ClientPool unread{limits.unread};    ///< bytes of answers that are held for their clients
};

/// receiving: the request is not complete. waiting: the handler has it; the library has suspended
/// the connection, unless the answer came at once. answered: there is a response, the library sends
/// it. The connection is at receiving again when it was sent.
class HttpConnection {
 public:
  HttpConnection(HttpShared& shared, MHD_Connection* mhd);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // What the library tells.
  void on_target(std::string target);
  MHD_Result on_data(const char* method, const char* version, std::string_view data);
  void on_completed();

  /// No request is complete: it waits for the client, and since when.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] Duration idle_for() const;
  /// What it had sent when it came has been looked at.
  [[nodiscard]] bool examined() const { return shared_.looks >= first_look_ + 2; }
  /// It has an answer with an end, and for how long; 0: it has none.
  [[nodiscard]] Duration reading_for() const;
  /// Greater than that of all that began to wait for their request before it.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }
  [[nodiscard]] bool closing() const { return closing_; }
  void close();

  /// The server ends: whatever waits gets an answer or an end, and nothing stays suspended.
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
  Instant answered_{};
  bool suspended_ = false;
  bool closing_ = false;
};

}  // namespace w8y::http

// A client of the status API, for w8yctl: libcurl on a unix socket. Blocks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/status_address.hpp"

namespace w8y::ops {

struct HttpResult {
  unsigned status = 0;
  std::string body;
  std::string problem;  ///< not empty: there was no (whole) answer, and why
};

struct ServerSentEvent {
  std::string name;
  std::string id;
  std::string data;
};

/// Takes a stream of server-sent events apart. Comments are passed over.
class EventParser {
 public:
  /// False from `sink` ends it: the rest is not looked at.
  using Sink = std::function<bool(const ServerSentEvent&)>;
  /// False: the sink wants no more, or an event is longer than 4 MiB.
  bool feed(std::string_view bytes, const Sink& sink);

 private:
  bool on_line(std::string_view line, const Sink& sink);

  std::string partial_;
  ServerSentEvent event_;
};

/// Paths are made with make_path(). One request at a time; the connection is kept between them.
class HttpClient {
 public:
  explicit HttpClient(std::string socket);
  /// Over TCP there is no token: it may look.
  explicit HttpClient(const StatusAddress& address);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpResult get(const std::string& path, Duration timeout = std::chrono::seconds(30));
  /// A reload waits for probes: give it time.
  HttpResult post(const std::string& path, const std::string& body,
                  Duration timeout = std::chrono::minutes(5));
  /// Until the server ends the stream or `sink` returns false. The body is only there if the status
  /// is not 200.
  HttpResult events(const std::string& path, const EventParser::Sink& sink);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::ops

// A client of the status API, for w8yctl: libcurl on a unix socket. Blocks.
#pragma once

#include <memory>
#include <string>

#include "core/clock.hpp"
#include "core/status_address.hpp"

namespace w8y::http {

struct HttpResult {
  unsigned status = 0;
  std::string body;
  std::string problem;  ///< not empty: there was no (whole) answer, and why
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

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::http

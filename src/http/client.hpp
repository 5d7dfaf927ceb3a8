// Blocking client of the status API, for w8yctl: libcurl on a unix socket or over TCP.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "core/status_address.hpp"

namespace w8y::http {

struct HttpResult {
  unsigned status = 0;
  std::string body;
  std::string problem;  ///< error text if the complete response was not received; otherwise empty
};

/// Client that sends one request at a time and keeps the connection between requests. make_path()
/// makes the paths.
class HttpClient {
 public:
  explicit HttpClient(std::string socket) : HttpClient(std::move(socket), "localhost") {}
  /// Connects over TCP, without a token, so that the client may only read.
  explicit HttpClient(const StatusAddress& address)
      : HttpClient(address.path, address.is_unix() ? "localhost" : address.text) {}

  HttpResult get(const std::string& path, Duration timeout = std::chrono::seconds(30)) {
    return request(path, nullptr, timeout);
  }
  /// The default timeout is long, because a reload waits for probes.
  HttpResult post(const std::string& path, const std::string& body,
                  Duration timeout = std::chrono::minutes(5)) {
    return request(path, &body, timeout);
  }

 private:
  HttpClient(std::string socket, const std::string& authority);
  HttpResult request(const std::string& path, const std::string* body, Duration timeout);

  std::string socket_;  ///< empty: TCP, as in the URL
  std::string base_;
  std::unique_ptr<void, void (*)(void*)> curl_;  ///< a CURL
};

}  // namespace w8y::http

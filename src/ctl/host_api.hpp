// Client of the status API of this host's w8yd.
#pragma once

#include <optional>
#include <string>

#include "api/endpoints.hpp"
#include "http/client.hpp"
#include "view/json_fields.hpp"

namespace w8y::ctl {

/// HTTP client. All functions except try_request() throw Failure.
class HostApi {
 public:
  explicit HostApi(std::string socket);

  /// Sends a GET request. A response with the member `member` is returned with any HTTP status.
  [[nodiscard]] view::JsonFields request(const http::Target& target,
                                         Duration timeout = std::chrono::seconds(30),
                                         const char* member = "hosts");
  /// Sends a command and returns the reply. Throws Failure if it is refused. `body`: a JSON object.
  view::JsonFields send_command(const http::Target& target, const std::string& body);
  /// Sends a command for this host.
  view::JsonFields send_command(FleetCommandKind kind, const std::string& body = "{}") {
    return send_command(api::endpoints::of(kind).target(), body);
  }
  /// Returns the response; nullopt: w8yd does not respond in time.
  [[nodiscard]] std::optional<view::JsonFields> try_request(const http::Target& target);
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
  http::HttpClient client_;
};

}  // namespace w8y::ctl

// The w8yd of this host, as its status API shows it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/endpoints.hpp"
#include "http/client.hpp"
#include "view/json_fields.hpp"

namespace w8y::ctl {

/// All throw Failure, but for try_request().
class HostApi {
 public:
  explicit HostApi(std::string socket);

  /// `member`: an answer that has it is returned whatever its status.
  [[nodiscard]] view::JsonFields request(const http::Target& target,
                                         Duration timeout = std::chrono::seconds(30),
                                         const char* member = "hosts");
  /// Sends a command and returns the reply. Throws Failure if it is refused. `body`: a JSON object.
  view::JsonFields send_command(const http::Target& target, const std::string& body);
  /// The same, to this host.
  view::JsonFields send_command(FleetCommandKind kind, const std::string& body = "{}") {
    return send_command(api::endpoints::of(kind).target(), body);
  }
  /// nullopt: nobody answers there soon.
  [[nodiscard]] std::optional<view::JsonFields> try_request(const http::Target& target);
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
  http::HttpClient client_;
};

}  // namespace w8y::ctl

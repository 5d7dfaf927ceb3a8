// The w8yd of this host, as its status API shows it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/endpoints.hpp"
#include "http/client.hpp"
#include "view/json_fields.hpp"

namespace w8y::ctl {

/// All throw Failure, but for try_ask().
class HostApi {
 public:
  explicit HostApi(std::string socket);

  /// `member`: an answer that has it is returned whatever its status.
  [[nodiscard]] view::JsonFields ask(const http::Target& target,
                                     Duration patience = std::chrono::seconds(30),
                                     const char* member = "hosts");
  /// Sends a command and returns the reply. Throws Failure if it is refused. `body`: a JSON object.
  view::JsonFields order(const http::Target& target, const std::string& body);
  /// The same, to this host.
  view::JsonFields order(OrderKind kind, const std::string& body = "{}") {
    return order(api::endpoints::of(kind).target(), body);
  }
  /// nullopt: nobody answers there soon.
  [[nodiscard]] std::optional<view::JsonFields> try_ask(const http::Target& target);
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
  http::HttpClient client_;
};

}  // namespace w8y::ctl

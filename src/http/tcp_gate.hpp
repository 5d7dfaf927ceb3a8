// What a request over TCP has to show, since anybody may reach the port: also a browser, on behalf
// of a page of somebody else.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/secret.hpp"
#include "http/server.hpp"

namespace w8y::http {

class TcpGate {
 public:
  using TokenRefused = std::function<void(const HttpRequest&)>;

  /// `token_refused` is called for each request that shows a wrong token.
  explicit TcpGate(TokenRefused token_refused = {}) : token_refused_(std::move(token_refused)) {}

  /// `names`: what this host is called besides IP addresses and localhost. An empty token: nothing
  /// may be changed over TCP.
  void set(std::vector<std::string> names, Secret token);

  /// Looks at the headers alone. A request with the token is trusted.
  [[nodiscard]] HttpVerdict judge(const HttpRequest& request) const;

 private:
  using Refusal = std::unique_ptr<HttpResponse>;  ///< nullptr: none

  [[nodiscard]] bool is_called(const std::string& name) const;
  [[nodiscard]] Refusal head_refusal(const HttpRequest& request) const;
  [[nodiscard]] Refusal token_refusal(const HttpRequest& request, bool shown) const;

  std::vector<std::string> names_;  ///< in lower case
  Secret token_;
  const TokenRefused token_refused_;
};

}  // namespace w8y::http

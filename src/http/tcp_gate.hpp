// Requirements for requests over TCP. Any program can reach the port, including a browser on behalf
// of a foreign web page.
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

  /// `token_refused` is called for each request with a wrong token.
  explicit TcpGate(TokenRefused token_refused = {}) : token_refused_(std::move(token_refused)) {}

  /// `names`: names of this host besides its IP addresses and localhost. If the token is empty,
  /// requests over TCP may change nothing.
  void set(std::vector<std::string> names, Secret token);

  /// Decides by the head of a request alone. A request with the token is trusted.
  [[nodiscard]] HttpVerdict check(const HttpRequest& request) const;

 private:
  using Refusal = std::unique_ptr<HttpResponse>;  ///< nullptr: the request is not refused

  [[nodiscard]] bool is_called(const std::string& name) const;
  [[nodiscard]] Refusal head_refusal(const HttpRequest& request) const;
  [[nodiscard]] Refusal token_refusal(const HttpRequest& request, bool shown) const;

  std::vector<std::string> names_;  ///< in lower case
  Secret token_;
  const TokenRefused token_refused_;
};

}  // namespace w8y::http

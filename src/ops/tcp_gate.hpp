// What a request over TCP has to show, since anybody may reach the port: also a browser, on behalf
// of a page of somebody else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <w8y/secret.hpp>

#include "ops/http.hpp"

namespace w8y::ops {

class TcpGate {
 public:
  /// `names`: what this host is called besides IP addresses and localhost. An empty token: nothing
  /// may be changed over TCP.
  void set(std::vector<std::string> names, Secret token);

  /// Why the request is refused; nullptr: it is not. Looks at the headers alone.
  [[nodiscard]] std::unique_ptr<HttpResponse> refusal(const HttpRequest& request) const;

 private:
  [[nodiscard]] bool is_called(const std::string& host) const;
  [[nodiscard]] std::unique_ptr<HttpResponse> order_refusal(const HttpRequest& request) const;

  std::vector<std::string> names_;  ///< in lower case
  Secret token_;
};

}  // namespace w8y::ops

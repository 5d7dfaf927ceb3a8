#include "ops/tcp_gate.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <w8y/escape.hpp>
#include <w8y/status_address.hpp>
#include <w8y/status_token.hpp>

namespace w8y::ops {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::unique_ptr<HttpResponse> refuse(unsigned status, const std::string& text) {
  return std::make_unique<HttpResponse>(error_response(status, text));
}

struct Authority {
  std::string name;  ///< in lower case, without brackets and a last dot
  std::string port;
  bool operator==(const Authority&) const = default;
};

/// "host:port"
Authority parse_authority(std::string_view text) {
  Authority result;
  const auto bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view name = text.substr(0, colon);
  if (colon != std::string_view::npos) result.port = text.substr(colon + 1);
  if (bracket != std::string_view::npos && name.ends_with(']'))
    name = name.substr(1, name.size() - 2);
  if (name.ends_with('.')) name.remove_suffix(1);
  result.name = lower(name);
  return result;
}

/// A page of the same host and port; behind a proxy with TLS, one of https.
bool is_same_origin(const std::string& origin, const std::string& host) {
  for (const auto& [scheme, usual] : {std::pair{"http://", "80"}, std::pair{"https://", "443"}}) {
    if (!origin.starts_with(scheme)) continue;
    Authority from = parse_authority(std::string_view(origin).substr(std::string(scheme).size()));
    Authority to = parse_authority(host);
    if (from.port.empty()) from.port = usual;
    if (to.port.empty()) to.port = usual;
    return from == to;
  }
  return false;  // "null" is a page of nobody
}

/// What a monitor asks, by whatever name, and which says nothing of items.
bool is_open(const HttpRequest& request) {
  return request.method == "GET" && request.path.size() == 1 &&
         (request.path[0] == "metrics" || request.path[0] == "healthz" ||
          request.path[0] == "readyz");
}

bool is_json(const std::string& content_type) {
  std::string type = lower(std::string_view(content_type).substr(0, content_type.find(';')));
  while (type.ends_with(' ') || type.ends_with('\t')) type.pop_back();
  return type == "application/json";
}

}  // namespace

void TcpGate::set(std::vector<std::string> names, Secret token) {
  for (std::string& name : names) {
    name = lower(name);
    if (name.ends_with('.')) name.pop_back();
  }
  names_ = std::move(names);
  token_ = std::move(token);
}

bool TcpGate::is_called(const std::string& host) const {
  const std::string name = parse_authority(host).name;
  return name == "localhost" || is_ip_address(name) ||
         std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::unique_ptr<HttpResponse> TcpGate::refusal(const HttpRequest& request) const {
  if (request.hosts > 1) return refuse(400, "there is more than one Host header");
  if (request.hosts == 0 && request.version != "HTTP/1.0")
    return refuse(400, "there is no Host header, which HTTP/1.1 asks for");
  if (is_open(request)) return nullptr;
  if (request.hosts == 1 && !is_called(request.host))
    return refuse(421, "this host is not known as " + escape(request.host.substr(0, 255)) +
                           "; status_names of its config may name it (w8y.toml(5))");
  if (!request.origin.empty() && !is_same_origin(request.origin, request.host))
    return refuse(403, "a page of " + escape(request.origin.substr(0, 255)) +
                           " may not ask here; only one of the same host and port may");
  return request.method == "GET" ? nullptr : order_refusal(request);
}

std::unique_ptr<HttpResponse> TcpGate::order_refusal(const HttpRequest& request) const {
  constexpr std::string_view scheme = "bearer ";
  const std::string& given = request.authorization;
  const bool bearer = lower(std::string_view(given).substr(0, scheme.size())) == scheme;
  const bool right = bearer && !token_.empty() &&
                     same_secret(std::string_view(given).substr(scheme.size()), token_.view());
  if (!right) {
    auto response =
        refuse(401, token_.empty()
                        ? "nothing may be changed over TCP: the config has no status_token_file"
                        : "a change over TCP needs the header Authorization: Bearer TOKEN, with "
                          "the token of status_token_file");
    response->challenge = "Bearer realm=\"w8yd\"";
    return response;
  }
  if (request.has_body && !is_json(request.content_type))
    return refuse(415, "the body must be JSON, with the header Content-Type: application/json");
  return nullptr;
}

}  // namespace w8y::ops

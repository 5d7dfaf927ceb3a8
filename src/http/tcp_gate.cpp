#include "http/tcp_gate.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/ascii.hpp"
#include "core/escape.hpp"
#include "core/status_address.hpp"
#include "core/status_token.hpp"

namespace w8y::http {

namespace {

std::unique_ptr<HttpResponse> refuse(unsigned status, const std::string& text) {
  return std::make_unique<HttpResponse>(error_response(status, text));
}

struct Authority {
  std::string name;  ///< in lower case, without brackets and without a final dot
  std::string port;
  bool operator==(const Authority&) const = default;
};

bool is_name_character(char c) {
  return core::is_alnum(c) || c == '.' || c == '-' || c == '_';
}

/// Parses a name, an IPv4 address or [IPv6], with or without ":" and a port of 1 to 5 digits.
/// Returns nullopt for any other text.
std::optional<Authority> parse_authority(std::string_view text) {
  const bool bracket = text.starts_with('[');
  const auto colon = text.find(':', bracket ? text.find(']') : 0);
  std::string_view name = text.substr(0, colon);
  Authority result;
  if (colon != std::string_view::npos) {
    result.port = text.substr(colon + 1);
    if (result.port.empty() || result.port.size() > 5 ||
        !std::all_of(result.port.begin(), result.port.end(), core::is_digit))
      return std::nullopt;
  }
  if (bracket) {
    if (name.size() < 2 || !name.ends_with(']')) return std::nullopt;
    result.name = core::lower(name.substr(1, name.size() - 2));
    if (result.name.find(':') == std::string::npos || !is_ip_address(result.name))
      return std::nullopt;
    return result;
  }
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_character))
    return std::nullopt;
  if (name.ends_with('.')) name.remove_suffix(1);
  result.name = core::lower(name);
  return result;
}

/// Returns whether the page has the same host and port. Behind a reverse proxy with TLS, it may
/// also be a page with https.
bool is_same_origin(const std::string& origin, const std::string& host) {
  for (const auto& [scheme, usual] : {std::pair{"http://", "80"}, std::pair{"https://", "443"}}) {
    if (!origin.starts_with(scheme)) continue;
    auto from = parse_authority(std::string_view(origin).substr(std::string(scheme).size()));
    auto to = parse_authority(host);
    if (!from || !to) return false;
    if (from->port.empty()) from->port = usual;
    if (to->port.empty()) to->port = usual;
    return *from == *to;
  }
  return false;  // "null" is an opaque origin
}

/// Returns whether a load balancer requests this path, under any name of the host. Its response
/// contains nothing about lists.
bool is_open(const HttpRequest& request) {
  return request.method == "GET" && request.path.size() == 1 &&
         (request.path[0] == "healthz" || request.path[0] == "readyz");
}

/// Returns the token after "Bearer "; nullopt if the request has none.
std::optional<std::string_view> token_in(const std::string& authorization) {
  constexpr std::string_view scheme = "bearer ";
  const std::string_view given = authorization;
  if (core::lower(given.substr(0, scheme.size())) != scheme) return std::nullopt;
  return given.substr(scheme.size());
}

bool is_json(const std::string& content_type) {
  std::string type = core::lower(std::string_view(content_type).substr(0, content_type.find(';')));
  while (type.ends_with(' ') || type.ends_with('\t')) type.pop_back();
  return type == "application/json";
}

}  // namespace

void TcpGate::set(std::vector<std::string> names, Secret token) {
  for (std::string& name : names) {
    name = core::lower(name);
    if (name.ends_with('.')) name.pop_back();
  }
  names_ = std::move(names);
  token_ = std::move(token);
}

bool TcpGate::is_called(const std::string& name) const {
  return name == "localhost" || is_ip_address(name) ||
         std::find(names_.begin(), names_.end(), name) != names_.end();
}

HttpVerdict TcpGate::check(const HttpRequest& request) const {
  if (auto refusal = head_refusal(request)) return {std::move(refusal), false};
  const auto shown = token_in(request.authorization);
  if (shown && !token_.empty() && same_secret(*shown, token_.view())) {
    if (request.method != "GET" && request.has_body && !is_json(request.content_type))
      return {refuse(415, "the body must be JSON, with the header Content-Type: application/json"),
              false};
    return {nullptr, true};
  }
  return {token_refusal(request, shown.has_value()), false};
}

TcpGate::Refusal TcpGate::head_refusal(const HttpRequest& request) const {
  if (request.hosts > 1) return refuse(400, "there is more than one Host header");
  if (request.hosts == 0 && request.version != "HTTP/1.0")
    return refuse(400, "the Host header is missing; HTTP/1.1 requires it");
  const auto host = parse_authority(request.host);
  if (!host && !request.host.empty())
    return refuse(400, "the Host header " + escape_text(request.host.substr(0, 255)) +
                           " is not a name or an IP address, with or without a port");
  if (is_open(request)) return nullptr;
  if (request.hosts == 1 && !is_called(host ? host->name : ""))
    return refuse(421, "this host is not known as " + escape(request.host.substr(0, 255)) +
                           "; add that name to status_allowed_hosts in its config (w8y.toml(5))");
  if (!request.origin.empty() && !is_same_origin(request.origin, request.host))
    return refuse(403, "a page of " + escape(request.origin.substr(0, 255)) +
                           " may not send requests here; only pages of the same host and port may");
  return nullptr;
}

/// Returns the refusal of a request without the correct token. A wrong token is refused for reading
/// too, so that the operator of the client notices. If the config has no token, or the scheme is
/// another one, the header is meant for a reverse proxy.
TcpGate::Refusal TcpGate::token_refusal(const HttpRequest& request, bool shown) const {
  const bool reads = request.method == "GET";
  if (reads && (!shown || token_.empty() || is_open(request))) return nullptr;
  if (shown && token_refused_) token_refused_(request);
  auto response = refuse(
      401, reads ? "the token does not match status_token_file; reading needs no token"
           : token_.empty()
               ? "changes over TCP are not allowed: the config has no status_token_file; set one, "
                 "or use the unix socket"
               : "a change over TCP needs the header Authorization: Bearer TOKEN, with the token "
                 "of status_token_file");
  response->challenge = "Bearer realm=\"w8yd\"";
  return response;
}

}  // namespace w8y::http

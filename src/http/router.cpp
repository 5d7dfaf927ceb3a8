#include <utility>

#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "http/http.hpp"
#include "http/target.hpp"

namespace w8y::http {

namespace {

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return false;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (pattern[i] != "*" && pattern[i] != path[i]) return false;
  return true;
}

/// Returns what is wrong with the parameters; empty if they are valid.
std::string unknown_parameter(const Endpoint& endpoint,
                              const std::map<std::string, std::string>& query) {
  if (endpoint.others == Endpoint::Others::ignored) return {};
  for (const auto& [name, value] : query) {
    if (endpoint.has_parameter(name)) continue;
    std::string all;
    for (const char* one : endpoint.parameters)
      if (one != nullptr) all.append(all.empty() ? "" : ", ").append(one);
    return "unknown parameter " + escape_text(name) + "; " +
           (all.empty() ? "this path has no parameters" : "known parameters: " + all);
  }
  return {};
}

}  // namespace

HttpResponse error_response(unsigned status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  core::AsciiObject json;
  json.put("error", text);
  response.body = json.finish() + "\n";
  return response;
}

void Router::on(const Endpoint& endpoint, Handler handler) {
  routes_.push_back({endpoint, parse_target(endpoint.pattern).value().path, std::move(handler)});
}

std::size_t Router::max_body(const HttpRequest& request) const {
  for (const Route& route : routes_)
    if (route.endpoint.method == request.method && matches(route.pattern, request.path))
      return route.endpoint.max_body;
  return 0;
}

void Router::handle(const HttpRequest& request, HttpReplyPtr reply) {
  std::string allow;
  for (const Route& route : routes_) {
    if (!matches(route.pattern, request.path)) continue;
    if (route.endpoint.method == request.method) {
      const std::string wrong = unknown_parameter(route.endpoint, request.query);
      if (!wrong.empty()) return reply->send(error_response(400, wrong));
      route.handler(request, reply);
      return;
    }
    allow.append(allow.empty() ? "" : ", ").append(route.endpoint.method);
  }
  if (allow.empty()) {
    reply->send(error_response(404, "no such path; see w8y-api(7) for all paths"));
    return;
  }
  HttpResponse response = error_response(405, "use " + allow);
  response.allow = allow;
  reply->send(std::move(response));
}

}  // namespace w8y::http

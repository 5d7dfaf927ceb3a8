#include <utility>

#include "ops/http.hpp"
#include "ops/http_target.hpp"
#include "ops/status_json.hpp"

namespace w8y::ops {

namespace {

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return false;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (pattern[i] != "*" && pattern[i] != path[i]) return false;
  return true;
}

}  // namespace

HttpResponse error_response(unsigned status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  response.body = dump({{"error", text}}) + "\n";
  return response;
}

void Router::on(std::string method, std::string_view pattern, Handler handler) {
  routes_.push_back({std::move(method), parse_target(pattern).value().path, std::move(handler)});
}

void Router::handle(const HttpRequest& request, HttpReplyPtr reply) {
  std::string allow;
  for (const Route& route : routes_) {
    if (!matches(route.pattern, request.path)) continue;
    if (route.method == request.method) {
      route.handler(request, reply);
      return;
    }
    allow += (allow.empty() ? "" : ", ") + route.method;
  }
  if (allow.empty()) {
    reply->send(error_response(404, "no such path; w8y-api(7) names them all"));
    return;
  }
  HttpResponse response = error_response(405, "use " + allow);
  response.allow = allow;
  reply->send(std::move(response));
}

}  // namespace w8y::ops

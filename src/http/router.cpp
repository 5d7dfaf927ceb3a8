#include <algorithm>
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

/// What is wrong with the parameters; empty: nothing.
std::string unknown_parameter(const std::vector<std::string>& known,
                              const std::map<std::string, std::string>& query) {
  for (const auto& [name, value] : query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string all;
    for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
    return "there is no parameter " + escape_text(name) + " here; " +
           (all.empty() ? "this path takes none" : "there are: " + all);
  }
  return {};
}

}  // namespace

HttpResponse error_response(unsigned status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  core::AsciiObject json;
  json.put("error", text);
  response.body = json.take() + "\n";
  return response;
}

void Router::on(std::string method, std::string_view pattern, Handler handler) {
  routes_.push_back({std::move(method), parse_target(pattern).value().path, std::move(handler)});
}

void Router::on(std::string method, std::string_view pattern,
                std::initializer_list<const char*> known, Handler handler) {
  on(std::move(method), pattern, std::move(handler));
  routes_.back().known.emplace(known.begin(), known.end());
}

void Router::handle(const HttpRequest& request, HttpReplyPtr reply) {
  std::string allow;
  for (const Route& route : routes_) {
    if (!matches(route.pattern, request.path)) continue;
    if (route.method == request.method) {
      const std::string wrong =
          route.known ? unknown_parameter(*route.known, request.query) : std::string();
      if (!wrong.empty()) return reply->send(error_response(400, wrong));
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

}  // namespace w8y::http

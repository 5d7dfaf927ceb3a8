#include "api/host_routes.hpp"

#include <utility>

#include "api/api_json.hpp"
#include "api/responses.hpp"

namespace w8y::api {

namespace {

unsigned http_status(ControlResult::Kind kind) {
  switch (kind) {
    case ControlResult::Kind::done:
      return 200;
    case ControlResult::Kind::accepted:
      return 202;
    case ControlResult::Kind::not_found:
      return 404;
    case ControlResult::Kind::refused:
      return 409;
    case ControlResult::Kind::invalid:
      return 422;
    case ControlResult::Kind::unavailable:
      return 503;
  }
  return 500;
}

}  // namespace

http::HttpResponse json_response(unsigned status, std::string json) {
  http::HttpResponse response;
  response.status = status;
  response.body = std::move(json) += '\n';
  return response;
}

http::HttpResponse result_response(const ControlResult& result) {
  const unsigned status = http_status(result.kind);
  core::AsciiObject json;
  put_result(json, result);
  if (status >= 400) json.put("error", result.text);
  return json_response(status, json.take());
}

http::HttpResponse outcome_response(const FleetOutcome& outcome) {
  if (outcome.unreachable) return http::error_response(503, outcome.trouble);
  if (outcome.not_found) return http::error_response(404, outcome.trouble);
  if (!outcome.trouble.empty()) return http::error_response(409, outcome.trouble);
  return json_response(outcome.complete() ? 200 : 409, command_text(outcome));
}

void add_api(http::Router& router, Control& control, FleetPort& fleet, EventHub& events) {
  add_status_looks(router, control, events);
  add_fleet_looks(router, fleet);
  add_orders(router, control, fleet);
}

}  // namespace w8y::api

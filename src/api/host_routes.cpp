#include "api/host_routes.hpp"

#include <utility>

#include "api/api_json.hpp"
#include "api/responses.hpp"

namespace w8y::api {

namespace {

unsigned http_status(CommandResult::Kind kind) {
  switch (kind) {
    case CommandResult::Kind::done:
      return 200;
    case CommandResult::Kind::accepted:
      return 202;
    case CommandResult::Kind::not_found:
      return 404;
    case CommandResult::Kind::refused:
      return 409;
    case CommandResult::Kind::invalid:
      return 422;
    case CommandResult::Kind::unavailable:
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

http::HttpResponse result_response(const CommandResult& result) {
  const unsigned status = http_status(result.kind);
  core::AsciiObject json;
  put_result(json, result);
  if (status >= 400) json.put("error", result.text);
  return json_response(status, json.finish());
}

http::HttpResponse outcome_response(const FleetCommandResult& outcome) {
  if (outcome.unreachable) return http::error_response(503, outcome.error);
  if (outcome.not_found) return http::error_response(404, outcome.error);
  if (!outcome.error.empty()) return http::error_response(409, outcome.error);
  return json_response(outcome.complete() ? 200 : 409, command_text(outcome));
}

void add_api(http::Router& router, Control& control, FleetControl& fleet, EventHub& events) {
  add_status_queries(router, control, fleet, events);
  add_fleet_queries(router, fleet);
  add_commands(router, control, fleet);
}

}  // namespace w8y::api

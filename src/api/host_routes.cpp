#include "api/host_routes.hpp"

#include <array>
#include <utility>

#include "api/api_json.hpp"
#include "api/responses.hpp"

namespace w8y::api {

http::HttpResponse json_response(unsigned status, std::string json) {
  http::HttpResponse response;
  response.status = status;
  response.body = std::move(json) += '\n';
  return response;
}

http::HttpResponse result_response(const CommandResult& result) {
  constexpr std::array statuses = {200U, 202U, 404U, 409U, 422U, 503U};
  const unsigned status = statuses.at(static_cast<std::size_t>(result.kind));
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

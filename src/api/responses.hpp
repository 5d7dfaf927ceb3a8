// Responses that the files of the status API share.
#pragma once

#include <string>

#include "api/control.hpp"
#include "api/event_hub.hpp"
#include "api/fleet_control.hpp"
#include "http/http.hpp"

namespace w8y::api {

/// `json`: a JSON object.
http::HttpResponse json_response(unsigned status, std::string json);
/// Returns the result of a command with its HTTP status.
http::HttpResponse result_response(const CommandResult& result);
/// Returns the result of a command that was sent to other hosts.
http::HttpResponse outcome_response(const FleetCommandResult& outcome);
/// Returns a function that responds with the result of a command.
inline auto send_result(const http::HttpReplyPtr& reply) {
  return [reply](const CommandResult& result) { reply->send(result_response(result)); };
}
inline auto send_outcome(const http::HttpReplyPtr& reply) {
  return [reply](const FleetCommandResult& outcome) { reply->send(outcome_response(outcome)); };
}

void add_status_queries(http::Router& router, Control& control, FleetControl& fleet,
                        EventHub& events);
void add_fleet_queries(http::Router& router, FleetControl& fleet);
void add_commands(http::Router& router, Control& control, FleetControl& fleet);

}  // namespace w8y::api

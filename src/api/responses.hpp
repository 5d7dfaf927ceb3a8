// What the files of the status API share.
#pragma once

#include <string>

#include "api/control.hpp"
#include "api/event_hub.hpp"
#include "api/fleet_control.hpp"
#include "http/http.hpp"

namespace w8y::api {

/// `json`: a JSON object.
http::HttpResponse json_response(unsigned status, std::string json);
/// What came of an order, with the status of HTTP that stands for it.
http::HttpResponse result_response(const ControlResult& result);
/// The same of one to other hosts.
http::HttpResponse outcome_response(const FleetOutcome& outcome);

void add_status_looks(http::Router& router, Control& control, EventHub& events);
void add_fleet_looks(http::Router& router, FleetPort& fleet);
void add_orders(http::Router& router, Control& control, FleetPort& fleet);

}  // namespace w8y::api

// What the files of the status API share.
#pragma once

#include <string>

#include "ops/control.hpp"
#include "ops/event_hub.hpp"
#include "ops/fleet_port.hpp"
#include "ops/http.hpp"

namespace w8y::ops {

/// `json`: a JSON object.
HttpResponse json_response(unsigned status, std::string json);
/// What came of an order, with the status of HTTP that stands for it.
HttpResponse result_response(const ControlResult& result);
/// The same of one to other hosts.
HttpResponse outcome_response(const FleetOutcome& outcome);

void add_status_looks(Router& router, Control& control, EventHub& events);
void add_fleet_looks(Router& router, FleetPort& fleet);
void add_orders(Router& router, Control& control, FleetPort& fleet);

}  // namespace w8y::ops

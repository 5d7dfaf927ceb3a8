// Routes of the status API (w8y-api(7)) that need no query of Redis.
#pragma once

#include "api/control.hpp"
#include "api/event_hub.hpp"
#include "api/fleet_control.hpp"
#include "http/http.hpp"

namespace w8y::api {

/// Adds these routes to `router`:
///   GET  /healthz  /readyz  /api/v1/status[?lists=no|count]  /api/v1/lists  /api/v1/lists/{prefix}
///   GET  /api/v1/config
///   GET  /api/v1/fleet/runs[?host=HOST][&run=START]
///   GET  /api/v1/events[?list=PREFIX]
///   POST /api/v1/quiet  /api/v1/resume  /api/v1/drain  /api/v1/reload
///   POST /api/v1/cancel  {"run": ID}
///        each also with ?host=HOST or ?all=yes, for other hosts of the fleet
/// An error is {"error": text}; config errors of a reload are in "lines". `control`, `fleet` and
/// `events` must outlive the router.
void add_api(http::Router& router, Control& control, FleetControl& fleet, EventHub& events);

}  // namespace w8y::api

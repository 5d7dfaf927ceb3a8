// Routes of the status API (w8y-api(7)) that query or change data in Redis. The other routes are in
// host_routes.hpp.
#pragma once

#include "api/control.hpp"
#include "api/fleet_control.hpp"
#include "api/query_runner.hpp"
#include "http/http.hpp"

namespace w8y::api {

/// Objects that the routes use. All must outlive the last response of the router.
struct Routes {
  http::Router& router;
  QueryRunner& queries;
  Control& control;
  FleetControl& fleet;
};

void add_routes(const Routes& routes);
/// Parts of add_routes().
void add_queries(const Routes& routes);
void add_fleet_view(const Routes& routes);
void add_run_routes(const Routes& routes);
void add_changes(const Routes& routes);
void add_producer_routes(const Routes& routes);
void add_why(const Routes& routes);

}  // namespace w8y::api

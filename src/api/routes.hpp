// Paths of the status API that look at Redis, or change what is there (w8y-api(7)); the others are
// in host_routes.hpp.
#pragma once

#include "api/control.hpp"
#include "api/fleet_control.hpp"
#include "api/query_runner.hpp"
#include "http/http.hpp"

namespace w8y::api {

/// What the paths have: all outlives the router's last answer.
struct Routes {
  http::Router& router;
  QueryRunner& queries;
  Control& control;
  FleetControl& fleet;
};

void add_routes(const Routes& routes);
/// Its parts.
void add_queries(const Routes& routes);
void add_fleet_view(const Routes& routes);
void add_run_routes(const Routes& routes);
void add_changes(const Routes& routes);
void add_why(const Routes& routes);

}  // namespace w8y::api

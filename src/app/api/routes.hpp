// Paths of the status API that look at Redis, or change what is there (w8y-api(7)); the others are
// in ops/api.hpp.
#pragma once

#include "app/query_runner.hpp"
#include "ops/control.hpp"
#include "ops/fleet_port.hpp"
#include "ops/http.hpp"

namespace w8y::app::api {

/// What the paths have: all outlives the router's last answer.
struct Routes {
  ops::Router& router;
  QueryRunner& queries;
  ops::Control& control;
  ops::FleetPort& fleet;
};

void add_routes(const Routes& routes);
/// Its parts.
void add_looks(const Routes& routes);
void add_fleet_view(const Routes& routes);
void add_run_routes(const Routes& routes);
void add_changes(const Routes& routes);
void add_why(const Routes& routes);

}  // namespace w8y::app::api

// All endpoints of the status API (w8y-api(7)). w8yd serves them, and the client of w8yctl requests
// them. An endpoint is one row here and one operation in etc/openapi.json.
#pragma once

#include "http/endpoint.hpp"
#include "view/fleet_commands.hpp"

namespace w8y::api::endpoints {

using http::Endpoint;

// This host.
inline constexpr Endpoint health{"GET", "/healthz", {}, Endpoint::Others::ignored};
inline constexpr Endpoint ready{"GET", "/readyz", {}, Endpoint::Others::ignored};
inline constexpr Endpoint metrics{"GET", "/metrics", {}, Endpoint::Others::ignored};
inline constexpr Endpoint status{"GET", "/api/v1/status", {"lists"}};
/// Returns the target of a status without lists.
inline http::Target status_of_host() {
  return status.target({}, {{"lists", "no"}});
}
inline constexpr Endpoint lists{"GET", "/api/v1/lists"};
inline constexpr Endpoint list{"GET", "/api/v1/lists/*"};
inline constexpr Endpoint config{"GET", "/api/v1/config", {"list"}};
inline constexpr Endpoint compare_config{"POST", "/api/v1/config/compare"};
inline constexpr Endpoint events{"GET", "/api/v1/events", {"list", "run"}};

// This host and the fleet.
inline constexpr Endpoint problems{"GET", "/api/v1/problems"};

// The page.
inline constexpr Endpoint page{"GET", "/", {}, Endpoint::Others::ignored};
inline constexpr Endpoint page_file{"GET", "/page/*", {}, Endpoint::Others::ignored};
inline constexpr Endpoint live{"GET", "/api/v1/live", {"after"}};

// Data in Redis.
inline constexpr Endpoint runs{
    "GET",
    "/api/v1/runs",
    {"list", "item", "outcome", "failed", "host", "group", "limit", "after"}};
inline constexpr Endpoint errors{"GET", "/api/v1/errors", {"list", "since", "limit"}};
inline constexpr Endpoint statistics{"GET", "/api/v1/statistics", {"list", "span"}};
inline constexpr Endpoint items{
    "GET", "/api/v1/lists/*/items", {"state", "search", "limit", "after"}};
inline constexpr Endpoint item{"GET", "/api/v1/lists/*/items/*"};
inline constexpr Endpoint ring{"GET", "/api/v1/lists/*/ring", {"most"}};
inline constexpr Endpoint schedules{
    "GET", "/api/v1/schedules", {"list", "state", "limit", "after"}};
inline constexpr Endpoint feeds{"GET", "/api/v1/feeds", {"limit", "after"}};
inline constexpr Endpoint why_list{"GET", "/api/v1/lists/*/why", {"times"}};
inline constexpr Endpoint why_item{"GET", "/api/v1/lists/*/items/*/why", {"times"}};

// The fleet.
inline constexpr Endpoint fleet{
    "GET", "/api/v1/fleet", {"lists", "list", "host", "limit", "after"}};
inline constexpr Endpoint fleet_problems{"GET", "/api/v1/fleet/problems"};
inline constexpr Endpoint forget_host{"POST", "/api/v1/fleet/hosts/*/forget"};
inline constexpr Endpoint fleet_runs{"GET", "/api/v1/fleet/runs", {"host", "run", "list"}};
inline constexpr Endpoint fleet_logs{"GET", "/api/v1/fleet/logs", {"host", "run", "list"}};
inline constexpr Endpoint run{"GET", "/api/v1/runs/*", {"list"}};
inline constexpr Endpoint run_logs{"GET", "/api/v1/runs/*/logs"};
inline constexpr Endpoint cancel_run{"POST", "/api/v1/runs/*/cancel"};

// Commands: for this host, for another host, or for all hosts.
inline constexpr Endpoint quiet{"POST", "/api/v1/quiet", {"host", "all"}};
inline constexpr Endpoint resume{"POST", "/api/v1/resume", {"host", "all"}};
inline constexpr Endpoint drain{"POST", "/api/v1/drain", {"host", "all"}};
inline constexpr Endpoint reload{"POST", "/api/v1/reload", {"host", "all"}};
inline constexpr Endpoint cancel{"POST", "/api/v1/cancel", {"host", "all"}};
inline constexpr Endpoint start_run{"POST", "/api/v1/run", {"host"}};

/// Returns the endpoint of a command. It is the same for this host and for other hosts.
constexpr const Endpoint& of(FleetCommandKind kind) {
  switch (kind) {
    case FleetCommandKind::quiet:
      return quiet;
    case FleetCommandKind::resume:
      return resume;
    case FleetCommandKind::drain:
      return drain;
    case FleetCommandKind::reload:
      return reload;
    case FleetCommandKind::cancel:
      return cancel;
    case FleetCommandKind::run:
      return start_run;
    case FleetCommandKind::runs:
      return fleet_runs;
    case FleetCommandKind::logs:
      break;
  }
  return fleet_logs;
}

// Changes.
inline constexpr Endpoint pause_list{"POST", "/api/v1/lists/*/pause"};
inline constexpr Endpoint resume_list{"POST", "/api/v1/lists/*/resume"};
inline constexpr Endpoint quarantine_item{"POST", "/api/v1/lists/*/items/*/quarantine"};
inline constexpr Endpoint release_item{"POST", "/api/v1/lists/*/items/*/release"};
inline constexpr Endpoint move_first{"POST", "/api/v1/lists/*/items/*/next"};
inline constexpr Endpoint release_group{"POST", "/api/v1/lists/*/errors/*/release", {"since"}};
inline constexpr Endpoint quarantine_group{
    "POST", "/api/v1/lists/*/errors/*/quarantine", {"since"}};
inline constexpr Endpoint retry_group{"POST", "/api/v1/lists/*/errors/*/retry", {"since"}};
inline constexpr Endpoint rerun_item{"POST", "/api/v1/lists/*/items/*/rerun"};
inline constexpr Endpoint run_item{"POST", "/api/v1/lists/*/items/*/run"};

// For programs that create work. Their bodies may be longer than those of other endpoints.
inline constexpr std::size_t max_long_body = std::size_t{1} << 20;
inline constexpr Endpoint add_items{
    "POST", "/api/v1/lists/*/items", {}, Endpoint::Others::refused, max_long_body};
inline constexpr Endpoint remove_item{"DELETE", "/api/v1/lists/*/items/*", {"by"}};
inline constexpr Endpoint put_jobs{
    "POST", "/api/v1/feeds/*/jobs", {}, Endpoint::Others::refused, max_long_body};
inline constexpr Endpoint job{"GET", "/api/v1/feeds/*/jobs/*", {"wait"}};
inline constexpr Endpoint retract_job{"DELETE", "/api/v1/feeds/*/jobs/*", {"by"}};
inline constexpr Endpoint retry_job{"POST", "/api/v1/feeds/*/jobs/*/retry"};
inline constexpr Endpoint set_schedule{
    "PUT", "/api/v1/schedules/*/*", {}, Endpoint::Others::refused, max_long_body};
inline constexpr Endpoint schedule_job{"GET", "/api/v1/schedules/*/*"};
inline constexpr Endpoint unset_schedule{"DELETE", "/api/v1/schedules/*/*", {"by"}};

}  // namespace w8y::api::endpoints

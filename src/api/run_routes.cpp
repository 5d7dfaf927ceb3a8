// Endpoints of one run: show it, cancel it.
#include <functional>
#include <string>
#include <utility>

#include "api/endpoints.hpp"
#include "api/parameters.hpp"
#include "api/query_at.hpp"
#include "api/responses.hpp"
#include "api/run_finder.hpp"
#include "core/escape.hpp"
#include "operator/changes.hpp"

namespace w8y::api {

namespace {

void show_run(const Routes& routes, const http::HttpRequest& request,
              const http::HttpReplyPtr& reply) {
  find_run(routes, {request.path[3], list_of(request), reply},
           [reply](const verbs::FoundRun& found, const std::string&) {
             if (!found.finished)
               return reply->send(json_response(200, view::to_json(*found.active)));
             reply->send(json_response(
                 200, R"({"state":"finished",)" + view::to_json(*found.finished).substr(1)));
           });
}

/// Settings of a cancellation.
struct Ending {
  bool quarantine = false;
  std::string reason;
  std::string by;
};

void end_run(const Routes& routes, const view::RunView& run, const Ending& ending,
             const http::HttpReplyPtr& reply) {
  if (run.host_id == routes.control.status().host_id)
    return reply->send(result_response(routes.control.cancel(run.status.run)));
  FleetCommand order;
  order.kind = FleetCommandKind::cancel;
  order.host = run.host_id;
  order.run = run.status.run;
  order.by = ending.by;
  routes.fleet.send(std::move(order), send_outcome(reply));
}

/// Quarantines the item before the run is cancelled, so that no host claims the item in between.
void quarantine_then_end(const Routes& routes, const view::RunView& run, const Ending& ending,
                         const http::HttpReplyPtr& reply) {
  routes.queries.run(
      [run, ending](verbs::QueryContext& query) {
        verbs::request_quarantine(query, run, {ending.by, ending.reason, wall_time()});
        return http::HttpResponse{};
      },
      [routes, run, ending, reply](http::HttpResponse quarantined) {
        if (quarantined.status != 200) return reply->send(std::move(quarantined));
        end_run(routes, run, ending, reply);
      },
      reply->trusted());
}

Ending ending_of(const Routes& routes, const http::HttpRequest& request) {
  const view::JsonFields body = body_of(request.body, {"quarantine", "reason", "by"});
  Ending ending{flag_in(body, "quarantine"), text_in(body, "reason"), by_in(body, routes)};
  if (!ending.reason.empty() && !ending.quarantine)
    throw verbs::QueryError(400, "a reason is allowed only with \"quarantine\": true");
  if (ending.quarantine) refuse_in_conflict(routes);
  return ending;
}

void cancel_run(const Routes& routes, const http::HttpRequest& request,
                const http::HttpReplyPtr& reply) {
  const Ending ending = ending_of(routes, request);
  find_run(routes, {request.path[3], std::nullopt, reply},
           [routes, ending, reply](const verbs::FoundRun& found, const std::string& id) {
             if (found.finished)
               return reply->send(
                   http::error_response(conflict, "run " + escape(id) + " has ended on host " +
                                                      escape_text(found.finished->host) + ": " +
                                                      escape(found.finished->outcome)));
             if (ending.quarantine)
               return quarantine_then_end(routes, *found.active, ending, reply);
             end_run(routes, *found.active, ending, reply);
           });
}

}  // namespace

void add_run_routes(const Routes& routes) {
  routes.router.on(endpoints::run, refusing(std::bind_front(show_run, routes)));
  routes.router.on(endpoints::cancel_run, refusing(std::bind_front(cancel_run, routes)));
}

}  // namespace w8y::api

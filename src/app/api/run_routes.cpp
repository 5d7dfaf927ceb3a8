// One run: shown, and ended.
#include <memory>
#include <string>
#include <utility>

#include "app/api/parameters.hpp"
#include "app/api/query_at.hpp"
#include "app/api/run_finder.hpp"
#include "core/escape.hpp"
#include "operator/changes.hpp"
#include "operator/lists.hpp"
#include "ops/api_parts.hpp"

namespace w8y::app::api {

namespace {

using ops::HttpReplyPtr;
using ops::HttpRequest;

/// A run that goes on has the state that its host says.
void show_run(const Routes& routes, const HttpRequest& request, const HttpReplyPtr& reply) {
  const SoughtRun run{request.path[3], text_of(request, "list"), reply->trusted()};
  find_run(routes, run, [reply](const FoundRun& found) {
    if (!found.why.empty()) return reply->send(ops::error_response(found.status, found.why));
    if (found.going_on) return reply->send(json_answer(view::to_json(*found.going_on)));
    reply->send(json_answer(R"({"state":"finished",)" + view::to_json(*found.finished).substr(1)));
  });
}

/// What has to be known to end a run.
struct Ending {
  bool quarantine = false;
  std::string reason;
  std::string by;
};

void end_run(const Routes& routes, const FoundRun& found, const Ending& ending,
             const HttpReplyPtr& reply) {
  if (found.here) return reply->send(ops::result_response(routes.control.cancel(found.id())));
  FleetOrder order;
  order.kind = OrderKind::cancel;
  order.host = found.going_on->host_id;
  order.run = found.id();
  order.by = ending.by;
  routes.fleet.give(std::move(order), [reply](const FleetOutcome& outcome) {
    reply->send(ops::outcome_response(outcome));
  });
}

/// Before the run is ended, so that nobody takes the item up in between.
void park_then_end(const Routes& routes, const FoundRun& found, const Ending& ending,
                   const HttpReplyPtr& reply) {
  routes.queries.run(
      [run = *found.going_on, ending](verbs::QueryContext& query) {
        verbs::park(query.redis, run, verbs::kind_of(query, run.list),
                    verbs::circular_keys(query, run.list),
                    {{}, ending.by, ending.reason, wall_time()});
        return ops::HttpResponse{};
      },
      [routes, found, ending, reply](ops::HttpResponse parked) {
        if (parked.status != 200) return reply->send(std::move(parked));
        end_run(routes, found, ending, reply);
      },
      reply->trusted());
}

Ending ending_of(const Routes& routes, const HttpRequest& request) {
  const view::JsonFields body = body_of(request, {"quarantine", "reason", "by"});
  Ending ending{flag_in(body, "quarantine"), text_in(body, "reason"), by_in(body, routes)};
  if (!ending.reason.empty() && !ending.quarantine)
    throw verbs::Refusal(400, "reason says why the item is kept, so it needs \"quarantine\": true");
  return ending;
}

void cancel_run(const Routes& routes, const HttpRequest& request, const HttpReplyPtr& reply) {
  const Ending ending = ending_of(routes, request);
  const SoughtRun run{request.path[3], {}, reply->trusted()};
  find_run(routes, run, [routes, ending, reply](const FoundRun& found) {
    if (!found.why.empty()) return reply->send(ops::error_response(found.status, found.why));
    if (found.finished)
      return reply->send(ops::error_response(conflict, "run " + escape(found.id()) +
                                                           " has ended on host " +
                                                           escape_text(found.finished->host) +
                                                           ": " + escape(found.finished->outcome)));
    if (ending.quarantine) return park_then_end(routes, found, ending, reply);
    end_run(routes, found, ending, reply);
  });
}

}  // namespace

void add_run_routes(const Routes& routes) {
  routes.router.on("GET", "/api/v1/runs/*", {"list"},
                   [routes](const HttpRequest& request, const HttpReplyPtr& reply) {
                     show_run(routes, request, reply);
                   });
  routes.router.on("POST", "/api/v1/runs/*/cancel", {},
                   [routes](const HttpRequest& request, const HttpReplyPtr& reply) {
                     try {
                       cancel_run(routes, request, reply);
                     } catch (const verbs::Refusal& refusal) {
                       reply->send(ops::error_response(refusal.status(), refusal.what()));
                     }
                   });
}

}  // namespace w8y::app::api

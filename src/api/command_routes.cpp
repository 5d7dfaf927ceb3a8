// Status API: commands for this host and for the fleet.
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "api/endpoints.hpp"
#include "api/responses.hpp"
#include "view/json_fields.hpp"

namespace w8y::api {

namespace {

/// Returns the command for the fleet; nullopt if the request is for this host alone. `error`: why
/// the request is invalid.
std::optional<FleetCommand> order_to_fleet(const http::HttpRequest& request, std::string& error) {
  const auto host = request.parameter("host");
  const auto all = request.parameter("all");
  if (!host && !all) return std::nullopt;
  FleetCommand order;
  order.host = host.value_or("");
  if (order.host.empty() != (all == "yes"))
    error = "exactly one of ?host=NAME and ?all=yes is required";
  if (const auto body = view::JsonFields::parse(request.body))
    order.by = body->bytes("by").value_or(std::string());
  return order;
}

/// Sends a command to the fleet and responds. Returns false if the request is for this host alone.
bool send_to_fleet(FleetControl& fleet, FleetCommandKind kind, const http::HttpRequest& request,
                   const http::HttpReplyPtr& reply, const RunId& run = {}) {
  std::string error;
  auto order = order_to_fleet(request, error);
  if (!order) return false;
  order->kind = kind;
  order->run = run;
  if (!error.empty()) {
    reply->send(http::error_response(400, error));
  } else {
    fleet.send(std::move(*order), send_outcome(reply));
  }
  return true;
}

void cancel(Control& control, FleetControl& fleet, const http::HttpRequest& request,
            const http::HttpReplyPtr& reply) {
  const auto body = view::JsonFields::parse(request.body);
  const auto run = body ? body->bytes("run") : std::nullopt;
  if (!run) {
    reply->send(http::error_response(400, R"(the body must be {"run": "ID"})"));
    return;
  }
  if (send_to_fleet(fleet, FleetCommandKind::cancel, request, reply, *run)) return;
  reply->send(result_response(control.cancel(*run)));
}

/// Shows the active runs of all hosts or of one host, optionally only runs whose ID starts with a
/// text. With the kind `logs`: the output of these runs.
void show_fleet_runs(FleetControl& fleet, FleetCommandKind kind, const http::HttpRequest& request,
                     const http::HttpReplyPtr& reply) {
  FleetCommand order;
  order.kind = kind;
  order.host = request.parameter("host").value_or("");
  order.run = request.parameter("run").value_or("");
  order.list = request.parameter("list");
  fleet.send(std::move(order), [reply](const FleetCommandResult& outcome) {
    // The response names the hosts that did not reply, beside the runs of the others.
    if (!outcome.error.empty()) return reply->send(outcome_response(outcome));
    reply->send(json_response(200, to_text(outcome)));
  });
}

}  // namespace

void add_fleet_queries(http::Router& router, FleetControl& fleet) {
  for (const FleetCommandKind kind : {FleetCommandKind::runs, FleetCommandKind::logs})
    router.on(kind == FleetCommandKind::runs ? endpoints::fleet_runs : endpoints::fleet_logs,
              std::bind_front(show_fleet_runs, std::ref(fleet), kind));
  router.on(endpoints::run_logs,
            [&fleet](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              fleet.follow(request.path.at(request.path.size() - 2), reply);
            });
}

void add_commands(http::Router& router, Control& control, FleetControl& fleet) {
  const auto order = [&](FleetCommandKind kind, CommandResult (Control::*method)()) {
    router.on(endpoints::of(kind),
              [&control, &fleet, kind, method](const http::HttpRequest& request,
                                               const http::HttpReplyPtr& reply) {
                if (send_to_fleet(fleet, kind, request, reply)) return;
                reply->send(result_response((control.*method)()));
              });
  };
  order(FleetCommandKind::quiet, &Control::quiet);
  order(FleetCommandKind::resume, &Control::resume);
  order(FleetCommandKind::drain, &Control::drain);
  router.on(endpoints::reload,
            [&control, &fleet](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              if (send_to_fleet(fleet, FleetCommandKind::reload, request, reply)) return;
              control.reload(send_result(reply));
            });
  router.on(endpoints::cancel, std::bind_front(cancel, std::ref(control), std::ref(fleet)));
}

}  // namespace w8y::api

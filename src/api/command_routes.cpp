// Status API: commands for this host and for the fleet.
#include <optional>
#include <string>
#include <utility>

#include "api/endpoints.hpp"
#include "api/responses.hpp"
#include "view/json_fields.hpp"

namespace w8y::api {

namespace {

/// Runs an item on this host, or on the host that the request names.
void run_item(Control& control, FleetControl& fleet, const http::HttpRequest& request,
              const http::HttpReplyPtr& reply) {
  const auto body = view::JsonFields::parse(request.body);
  const auto list = body ? body->bytes("list") : std::nullopt;
  const auto item = body ? body->bytes("item") : std::nullopt;
  if (!list || !item) {
    reply->send(http::error_response(400, R"(the body must be {"list": "LIST", "item": "ITEM"})"));
    return;
  }
  if (const auto host = request.query.find("host"); host != request.query.end()) {
    FleetCommand order;
    order.kind = FleetCommandKind::run;
    order.host = host->second;
    order.list = *list;
    order.item = *item;
    order.by = body->bytes("by").value_or(std::string());
    return fleet.send(std::move(order), [reply](const FleetCommandResult& outcome) {
      reply->send(outcome_response(outcome));
    });
  }
  control.run_item(*list, *item,
                   [reply](const CommandResult& result) { reply->send(result_response(result)); });
}

std::optional<std::string> list_named(const http::HttpRequest& request) {
  const auto found = request.query.find("list");
  return found == request.query.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the command for the fleet; nullopt if the request is for this host alone. `error`: why
/// the request is invalid.
std::optional<FleetCommand> order_to_fleet(const http::HttpRequest& request, std::string& error) {
  const auto host = request.query.find("host");
  const auto all = request.query.find("all");
  if (host == request.query.end() && all == request.query.end()) return std::nullopt;
  FleetCommand order;
  if (host != request.query.end()) order.host = host->second;
  const bool to_all = all != request.query.end() && all->second == "yes";
  if (order.host.empty() != to_all) error = "exactly one of ?host=NAME and ?all=yes is required";
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
    fleet.send(std::move(*order), [reply](const FleetCommandResult& outcome) {
      reply->send(outcome_response(outcome));
    });
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
  if (const auto host = request.query.find("host"); host != request.query.end())
    order.host = host->second;
  if (const auto run = request.query.find("run"); run != request.query.end())
    order.run = run->second;
  order.list = list_named(request);
  fleet.send(std::move(order), [reply](const FleetCommandResult& outcome) {
    // The response names the hosts that did not reply, beside the runs of the others.
    if (!outcome.error.empty()) return reply->send(outcome_response(outcome));
    reply->send(json_response(200, to_text(outcome)));
  });
}

}  // namespace

void add_fleet_queries(http::Router& router, FleetControl& fleet) {
  router.on(endpoints::fleet_runs,
            [&fleet](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              show_fleet_runs(fleet, FleetCommandKind::runs, request, reply);
            });
  router.on(endpoints::fleet_logs,
            [&fleet](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              show_fleet_runs(fleet, FleetCommandKind::logs, request, reply);
            });
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
  router.on(endpoints::reload, [&control, &fleet](const http::HttpRequest& request,
                                                  const http::HttpReplyPtr& reply) {
    if (send_to_fleet(fleet, FleetCommandKind::reload, request, reply)) return;
    control.reload([reply](const CommandResult& result) { reply->send(result_response(result)); });
  });
  router.on(endpoints::cancel,
            [&control, &fleet](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              cancel(control, fleet, request, reply);
            });
  router.on(endpoints::start_run,
            [&control, &fleet](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              run_item(control, fleet, request, reply);
            });
}

}  // namespace w8y::api

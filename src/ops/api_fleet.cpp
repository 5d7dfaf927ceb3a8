// The status API: orders to this host, and what is seen of the fleet and told to it.
#include <optional>
#include <string>
#include <utility>

#include "ops/api_parts.hpp"
#include "ops/fleet_json.hpp"

namespace w8y::ops {

namespace {

void run_item(Control& control, const HttpRequest& request, const HttpReplyPtr& reply) {
  const auto body = parse(request.body);
  const auto list = body ? get_bytes(*body, "list") : std::nullopt;
  const auto item = body ? get_bytes(*body, "item") : std::nullopt;
  if (!list || !item) {
    reply->send(error_response(400, R"(the body should be {"list": "PREFIX", "item": "ITEM"})"));
    return;
  }
  control.run_item(*list, *item,
                   [reply](const ControlResult& result) { reply->send(result_response(result)); });
}

HttpResponse fleet_response(const FleetView& view, bool lists) {
  if (!view.trouble.empty()) return error_response(view.unreachable ? 503 : 409, view.trouble);
  HttpResponse response;
  response.body = to_text(view, lists) + "\n";
  return response;
}

void show_fleet(FleetPort& fleet, const HttpRequest& request, const HttpReplyPtr& reply) {
  const auto found = request.query.find("lists");
  if (found != request.query.end() && found->second != "no")
    return reply->send(error_response(400, "?lists= is no, or is left out for all lists"));
  const bool lists = found == request.query.end();
  fleet.look(lists,
             [reply, lists](const FleetView& view) { reply->send(fleet_response(view, lists)); });
}

/// nullopt: the request is for this host alone. `mistake`: it is for nobody.
std::optional<FleetOrder> order_to_fleet(const HttpRequest& request, std::string& mistake) {
  const auto host = request.query.find("host");
  const auto all = request.query.find("all");
  if (host == request.query.end() && all == request.query.end()) return std::nullopt;
  FleetOrder order;
  if (host != request.query.end()) order.host = host->second;
  const bool to_all = all != request.query.end() && all->second == "yes";
  if (order.host.empty() != to_all) mistake = "say ?host=NAME or ?all=yes";
  if (const auto body = parse(request.body))
    order.by = get_bytes(*body, "by").value_or(std::string());
  return order;
}

/// True: the request is for the fleet, and is being answered.
bool ask_fleet(FleetPort& fleet, OrderKind kind, const HttpRequest& request,
               const HttpReplyPtr& reply, const RunId& run = {}) {
  std::string mistake;
  auto order = order_to_fleet(request, mistake);
  if (!order) return false;
  order->kind = kind;
  order->run = run;
  if (!mistake.empty()) {
    reply->send(error_response(400, mistake));
  } else {
    fleet.give(std::move(*order),
               [reply](const FleetOutcome& outcome) { reply->send(outcome_response(outcome)); });
  }
  return true;
}

void cancel(Control& control, FleetPort& fleet, const HttpRequest& request,
            const HttpReplyPtr& reply) {
  const auto body = parse(request.body);
  const auto run = body ? get_bytes(*body, "run") : std::nullopt;
  if (!run) {
    reply->send(error_response(400, R"(the body should be {"run": "ID"})"));
    return;
  }
  if (ask_fleet(fleet, OrderKind::cancel, request, reply, *run)) return;
  reply->send(result_response(control.cancel(*run)));
}

/// What all hosts run, or one, or what has an id that starts so.
void show_fleet_runs(FleetPort& fleet, const HttpRequest& request, const HttpReplyPtr& reply) {
  FleetOrder order;
  if (const auto host = request.query.find("host"); host != request.query.end())
    order.host = host->second;
  if (const auto run = request.query.find("run"); run != request.query.end())
    order.run = run->second;
  fleet.give(std::move(order), [reply](const FleetOutcome& outcome) {
    HttpResponse response = outcome_response(outcome);
    // Who does not answer is named, and runs of others are shown all the same.
    if (outcome.trouble.empty()) response = json_response(200, to_json(outcome));
    reply->send(response);
  });
}

}  // namespace

void add_fleet_looks(Router& router, FleetPort& fleet) {
  router.on("GET", "/api/v1/fleet", {"lists"},
            [&fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              show_fleet(fleet, request, reply);
            });
  router.on("GET", "/api/v1/fleet/runs", {"host", "run"},
            [&fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              show_fleet_runs(fleet, request, reply);
            });
}

void add_orders(Router& router, Control& control, FleetPort& fleet) {
  const auto order = [&](const char* path, OrderKind kind, ControlResult (Control::*method)()) {
    router.on(
        "POST", path, {"host", "all"},
        [&control, &fleet, kind, method](const HttpRequest& request, const HttpReplyPtr& reply) {
          if (ask_fleet(fleet, kind, request, reply)) return;
          reply->send(result_response((control.*method)()));
        });
  };
  order("/api/v1/quiet", OrderKind::quiet, &Control::quiet);
  order("/api/v1/resume", OrderKind::resume, &Control::resume);
  order("/api/v1/drain", OrderKind::drain, &Control::drain);
  router.on("POST", "/api/v1/reload", {"host", "all"},
            [&control, &fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              if (ask_fleet(fleet, OrderKind::reload, request, reply)) return;
              control.reload(
                  [reply](const ControlResult& result) { reply->send(result_response(result)); });
            });
  router.on("POST", "/api/v1/cancel", {"host", "all"},
            [&control, &fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              cancel(control, fleet, request, reply);
            });
  router.on("POST", "/api/v1/run", {},
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              run_item(control, request, reply);
            });
}

}  // namespace w8y::ops

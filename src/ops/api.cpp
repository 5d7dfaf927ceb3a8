#include "ops/api.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <w8y/problems.hpp>

#include "ops/fleet_json.hpp"
#include "ops/secret_json.hpp"
#include "ops/status_json.hpp"

namespace w8y::ops {

namespace {

HttpResponse json_response(unsigned status, const Json& json) {
  HttpResponse response;
  response.status = status;
  response.body = dump(json) + "\n";
  return response;
}

unsigned http_status(ControlResult::Kind kind) {
  switch (kind) {
    case ControlResult::Kind::done:
      return 200;
    case ControlResult::Kind::accepted:
      return 202;
    case ControlResult::Kind::not_found:
      return 404;
    case ControlResult::Kind::refused:
      return 409;
    case ControlResult::Kind::invalid:
      return 422;
    case ControlResult::Kind::unavailable:
      return 503;
  }
  return 500;
}

HttpResponse result_response(const ControlResult& result) {
  const unsigned status = http_status(result.kind);
  Json json = to_json(result);
  if (status >= 400) json["error"] = result.text;
  return json_response(status, json);
}

/// What isn't ready yet, for a person; empty: it is.
std::string why_not_ready(const HostStatus& host) {
  if (host.state == HostState::starting) return "starting";
  if (host.state == HostState::draining) return "draining";
  if (!host.redis.connected)
    return "no Redis" + (host.redis.trouble.empty() ? "" : ": " + host.redis.trouble);
  return "";
}

HttpResponse health_response(const Control& host) {
  const std::string why = host.stuck();
  if (why.empty()) return json_response(200, {{"ok", true}});
  return json_response(503, {{"ok", false}, {"error", why}});
}

HttpResponse ready_response(const Control& host) {
  std::string why = why_not_ready(host.status());
  if (why.empty()) why = host.stuck();
  if (why.empty()) return json_response(200, {{"ready", true}});
  return json_response(503, {{"ready", false}, {"error", why}});
}

/// All lists in figures.
struct Totals {
  std::map<std::string, std::size_t> states;
  std::size_t lists = 0;
  std::size_t running = 0;
  std::uint64_t leases_lost = 0;  ///< since the start
  std::size_t lost_now = 0;       ///< of runs that go on

  void add(const ListStatus& list) {
    ++lists;
    ++states[state_name(list.state)];
    running += list.running;
    leases_lost += list.counters.leases_lost;
    for (const RunStatus& run : list.runs) lost_now += run.lease_lost ? 1 : 0;
  }
  [[nodiscard]] Json json() const {
    return {{"lists", lists},
            {"states", states},
            {"running", running},
            {"leases_lost", leases_lost},
            {"leases_lost_now", lost_now}};
  }
};

/// An answer about all lists, while they are looked at. They are put into text one by one: as JSON,
/// ten thousand take many times what their text does.
struct Lists {
  explicit Lists(HostStatus host) : problems(std::move(host)) {}
  Problems problems;
  Totals totals;
  std::string text;
};

enum class Shown { totals, all };

/// What is wrong, `head`, then each list.
HttpResponse lists_response(Lists& lists, const Json& head, Shown shown) {
  Json json = {{"problems", Json::array()}};
  for (const auto& problem : lists.problems.take()) json["problems"].push_back(to_json(problem));
  json.update(head);
  json["totals"] = lists.totals.json();
  HttpResponse response;
  std::string& text = response.body;
  text = dump(json);
  if (shown == Shown::all) {
    text.pop_back();  // its }
    text.reserve(text.size() + lists.text.size() + 16);
    text.append(",\"lists\":[").append(lists.text).append("]}");
  }
  text += '\n';
  return response;
}

void send_lists(Control& control, const HttpReplyPtr& reply, Json head, Shown shown) {
  const auto lists = std::make_shared<Lists>(control.status());
  control.each_list(
      [lists, shown](const ListStatus& list) {
        lists->problems.add(list);
        lists->totals.add(list);
        if (shown != Shown::all) return;
        if (!lists->text.empty()) lists->text += ',';
        lists->text += to_text(list);
      },
      [lists, shown, reply, head = std::move(head)] {
        reply->send(lists_response(*lists, head, shown));
      });
}

/// With `lists=no` only the host itself: nothing that Redis or ten thousand lists would be asked
/// for. With `lists=count` all but each list.
void show_status(Control& control, const HttpRequest& request, const HttpReplyPtr& reply) {
  const auto found = request.query.find("lists");
  const std::string lists = found == request.query.end() ? "" : found->second;
  if (lists == "no") return reply->send(json_response(200, to_json(control.status())));
  control.refresh([&control, reply, shown = lists == "count" ? Shown::totals : Shown::all] {
    send_lists(control, reply, to_json(control.status()), shown);
  });
}

HttpResponse list_response(const std::optional<ListStatus>& list) {
  if (!list) return error_response(404, "there is no such list");
  HttpResponse response;
  response.body = to_text(*list) + "\n";
  return response;
}

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

void compare_secrets(const Control& control, const HttpRequest& request, HttpReply& reply) {
  const auto body = parse(request.body);
  const auto questions = body ? read_secret_questions(*body) : std::nullopt;
  if (!questions) {
    reply.send(error_response(400, R"(the body should be {"salt": "TEXT", "secrets": [)"
                                   R"({"list": "PREFIX", "key": "KEY", "digest": "TEXT"}, …]})"));
    return;
  }
  std::vector<SecretAnswer> answers;
  for (const SecretQuestion& question : questions->secrets)
    answers.push_back(control.compare_secret(question, questions->salt));
  reply.send(json_response(200, to_json(answers)));
}

HttpResponse fleet_response(const FleetView& view, bool lists) {
  if (!view.trouble.empty()) return error_response(view.unreachable ? 503 : 409, view.trouble);
  HttpResponse response;
  response.body = to_text(view, lists) + "\n";
  return response;
}

void show_fleet(FleetPort& fleet, const HttpRequest& request, const HttpReplyPtr& reply) {
  const auto found = request.query.find("lists");
  const bool lists = found == request.query.end() || found->second != "no";
  fleet.look(lists,
             [reply, lists](const FleetView& view) { reply->send(fleet_response(view, lists)); });
}

HttpResponse outcome_response(const FleetOutcome& outcome) {
  if (outcome.unreachable) return error_response(503, outcome.trouble);
  if (outcome.not_found) return error_response(404, outcome.trouble);
  if (!outcome.trouble.empty()) return error_response(409, outcome.trouble);
  Json json = to_json(outcome);
  if (!outcome.complete()) json["error"] = "not all hosts have done it";
  return json_response(outcome.complete() ? 200 : 409, json);
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

EventFilter event_filter(const HttpRequest& request) {
  const auto value = [&](const char* name) -> std::optional<std::string> {
    const auto found = request.query.find(name);
    if (found == request.query.end()) return std::nullopt;
    return found->second;
  };
  return {value("list"), value("run")};
}

void add_looks(Router& router, Control& control, FleetPort& fleet, EventHub& events) {
  using Show = HttpResponse (*)(const Control&);
  const auto show = [&](const char* path, Show response) {
    router.on("GET", path, [&control, response](const HttpRequest&, const HttpReplyPtr& reply) {
      reply->send(response(control));
    });
  };
  show("/healthz", health_response);
  show("/readyz", ready_response);
  router.on("GET", "/api/v1/status",
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              show_status(control, request, reply);
            });
  router.on("GET", "/api/v1/lists", [&control](const HttpRequest&, const HttpReplyPtr& reply) {
    control.refresh([&control, reply] { send_lists(control, reply, Json::object(), Shown::all); });
  });
  router.on("GET", "/api/v1/lists/*",
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              control.refresh([&control, reply, prefix = request.path.back()] {
                reply->send(list_response(control.list(prefix)));
              });
            });
  router.on("GET", "/api/v1/config", [&control](const HttpRequest&, const HttpReplyPtr& reply) {
    reply->send(json_response(200, to_json(control.config_text())));
  });
  router.on("GET", "/api/v1/fleet",
            [&fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              show_fleet(fleet, request, reply);
            });
  router.on("GET", "/api/v1/fleet/runs",
            [&fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              show_fleet_runs(fleet, request, reply);
            });
  router.on("GET", "/api/v1/events",
            [&events](const HttpRequest& request, const HttpReplyPtr& reply) {
              events.subscribe(*reply, event_filter(request), request.last_event_id);
            });
}

void add_orders(Router& router, Control& control, FleetPort& fleet) {
  const auto order = [&](const char* path, OrderKind kind, ControlResult (Control::*method)()) {
    router.on(
        "POST", path,
        [&control, &fleet, kind, method](const HttpRequest& request, const HttpReplyPtr& reply) {
          if (ask_fleet(fleet, kind, request, reply)) return;
          reply->send(result_response((control.*method)()));
        });
  };
  order("/api/v1/quiet", OrderKind::quiet, &Control::quiet);
  order("/api/v1/resume", OrderKind::resume, &Control::resume);
  order("/api/v1/drain", OrderKind::drain, &Control::drain);
  router.on("POST", "/api/v1/reload",
            [&control, &fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              if (ask_fleet(fleet, OrderKind::reload, request, reply)) return;
              control.reload(
                  [reply](const ControlResult& result) { reply->send(result_response(result)); });
            });
  router.on("POST", "/api/v1/config/compare",
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              compare_secrets(control, request, *reply);
            });
  router.on("POST", "/api/v1/cancel",
            [&control, &fleet](const HttpRequest& request, const HttpReplyPtr& reply) {
              cancel(control, fleet, request, reply);
            });
  router.on("POST", "/api/v1/run",
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              run_item(control, request, reply);
            });
}

}  // namespace

void add_api(Router& router, Control& control, FleetPort& fleet, EventHub& events) {
  add_looks(router, control, fleet, events);
  add_orders(router, control, fleet);
}

}  // namespace w8y::ops

#include "ops/api.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

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

HttpResponse ready_response(const HostStatus& host) {
  const std::string why = why_not_ready(host);
  if (why.empty()) return json_response(200, {{"ready", true}});
  return json_response(503, {{"ready", false}, {"error", why}});
}

HttpResponse lists_response(const HostStatus& host) {
  Json lists = Json::array();
  for (const ListStatus& list : host.lists) lists.push_back(to_json(list));
  return json_response(200, {{"lists", std::move(lists)}});
}

HttpResponse list_response(const HostStatus& host, const std::string& prefix) {
  const auto found = std::find_if(host.lists.begin(), host.lists.end(),
                                  [&](const ListStatus& list) { return list.prefix == prefix; });
  if (found == host.lists.end()) return error_response(404, "there is no such list");
  return json_response(200, to_json(*found));
}

void cancel(Control& control, const HttpRequest& request, HttpReply& reply) {
  const auto body = parse(request.body);
  const auto run = body ? get_bytes(*body, "run") : std::nullopt;
  if (!run) {
    reply.send(error_response(400, R"(the body should be {"run": "ID"})"));
    return;
  }
  reply.send(result_response(control.cancel(*run)));
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

std::optional<std::string> list_filter(const HttpRequest& request) {
  const auto found = request.query.find("list");
  if (found == request.query.end()) return std::nullopt;
  return found->second;
}

void add_looks(Router& router, Control& control, EventHub& events) {
  const auto show = [&](const char* path, HttpResponse (*response)(const HostStatus&)) {
    router.on("GET", path, [&control, response](const HttpRequest&, const HttpReplyPtr& reply) {
      reply->send(response(control.status()));
    });
  };
  show("/healthz", [](const HostStatus&) { return json_response(200, {{"ok", true}}); });
  show("/readyz", ready_response);
  show("/api/v1/status", [](const HostStatus& host) { return json_response(200, to_json(host)); });
  show("/api/v1/lists", lists_response);
  router.on("GET", "/api/v1/lists/*",
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              reply->send(list_response(control.status(), request.path.back()));
            });
  router.on("GET", "/api/v1/config", [&control](const HttpRequest&, const HttpReplyPtr& reply) {
    reply->send(json_response(200, to_json(control.config_text())));
  });
  router.on("GET", "/api/v1/events",
            [&events](const HttpRequest& request, const HttpReplyPtr& reply) {
              events.subscribe(*reply, list_filter(request));
            });
}

void add_orders(Router& router, Control& control) {
  const auto order = [&](const char* path, ControlResult (Control::*method)()) {
    router.on("POST", path, [&control, method](const HttpRequest&, const HttpReplyPtr& reply) {
      reply->send(result_response((control.*method)()));
    });
  };
  order("/api/v1/quiet", &Control::quiet);
  order("/api/v1/resume", &Control::resume);
  order("/api/v1/drain", &Control::drain);
  router.on("POST", "/api/v1/reload", [&control](const HttpRequest&, const HttpReplyPtr& reply) {
    control.reload([reply](const ControlResult& result) { reply->send(result_response(result)); });
  });
  router.on("POST", "/api/v1/cancel",
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              cancel(control, request, *reply);
            });
  router.on("POST", "/api/v1/run",
            [&control](const HttpRequest& request, const HttpReplyPtr& reply) {
              run_item(control, request, reply);
            });
}

}  // namespace

void add_api(Router& router, Control& control, EventHub& events) {
  add_looks(router, control, events);
  add_orders(router, control);
}

}  // namespace w8y::ops

// Status API: state of this host, its lists, its config and its events.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/api_json.hpp"
#include "api/endpoints.hpp"
#include "api/responses.hpp"
#include "api/secret_json.hpp"
#include "view/host_view.hpp"
#include "view/list_view.hpp"
#include "view/problems.hpp"

namespace w8y::api {

namespace {

/// Returns which part is not ready, as a text for the operator; empty if the host is ready.
std::string why_not_ready(const HostStatus& host) {
  if (host.state == HostState::starting) return "starting";
  if (host.state == HostState::draining) return "draining";
  if (host.has_redis && !host.redis.connected)
    return "no Redis" + (host.redis.error.empty() ? "" : ": " + host.redis.error);
  if (!host.format_conflict.empty()) return host.format_conflict;
  return "";
}

/// Returns {NAME: true} with 200 if `why` is empty, otherwise {NAME: false} and `why` with 503.
http::HttpResponse state_response(const char* name, const std::string& why) {
  core::AsciiObject json;
  json.put(name, why.empty());
  if (!why.empty()) json.put("error", why);
  return json_response(why.empty() ? 200 : 503, json.finish());
}

http::HttpResponse health_response(const Control& host) {
  const std::string why = host.stuck();
  return state_response("ok", why);
}

http::HttpResponse ready_response(const Control& host) {
  std::string why = why_not_ready(host.status());
  if (why.empty()) why = host.stuck();
  return state_response("ready", why);
}

/// Statistics of all lists.
struct Totals {
  std::map<std::string, std::size_t> states;
  std::size_t lists = 0;
  std::size_t running = 0;
  std::uint64_t leases_lost = 0;  ///< since the start
  std::size_t lost_now = 0;       ///< of active runs

  void add(const ListStatus& list) {
    ++lists;
    ++states[state_name(list.state)];
    running += list.running;
    leases_lost += list.counters.leases_lost;
    for (const RunStatus& run : list.runs) lost_now += run.lease_lost ? 1 : 0;
  }
  [[nodiscard]] std::string json() const {
    core::AsciiObject counts;
    for (const auto& [state, count] : states) counts.put(state, count);
    core::AsciiObject json;
    json.put("lists", lists);
    json.put_json("states", counts.finish());
    json.put("running", running);
    json.put("leases_lost", leases_lost);
    json.put("leases_lost_now", lost_now);
    return json.finish();
  }
};

/// Response about all lists, while they are iterated. The lists are encoded one by one: a JSON tree
/// of 10,000 lists takes many times the memory of its text.
struct Lists {
  explicit Lists(HostStatus host) : problems(std::move(host)) {}
  Problems problems;
  Totals totals;
  std::string text;
};

enum class Shown { totals, all };

/// Writes the problems, the host unless it is nullptr, and then each list.
http::HttpResponse lists_response(Lists& lists, const HostStatus* host, Shown shown) {
  core::AsciiObject json(4096);
  json.put_json("problems", to_json(lists.problems.drain()));
  if (host != nullptr) view::put_host(json, *host, view::api);
  json.put_json("totals", lists.totals.json());
  std::string head = json.finish();
  if (shown == Shown::totals) return json_response(200, std::move(head));
  head.pop_back();  // the final }
  // The text of 10,000 lists has several MB. It is moved in its memory, not copied.
  lists.text.insert(0, head.append(",\"lists\":[")).append("]}");
  return json_response(200, std::move(lists.text));
}

void send_lists(Control& control, const http::HttpReplyPtr& reply, bool with_host, Shown shown) {
  const auto lists = std::make_shared<Lists>(control.status());
  control.each_list(
      [lists, shown](const ListStatus& list) {
        lists->problems.add(list);
        lists->totals.add(list);
        if (shown != Shown::all) return;
        if (!lists->text.empty()) lists->text += ',';
        lists->text += view::to_json(list, view::api);
      },
      [&control, lists, shown, reply, with_host] {
        const HostStatus host = control.status();
        reply->send(lists_response(*lists, with_host ? &host : nullptr, shown));
      });
}

/// With `lists=no`, shows only the host, without a query of Redis and without an iteration over the
/// lists. With `lists=count`, shows all except the individual lists.
void show_status(Control& control, const http::HttpRequest& request,
                 const http::HttpReplyPtr& reply) {
  const auto found = request.query.find("lists");
  const std::string lists = found == request.query.end() ? "" : found->second;
  if (!lists.empty() && lists != "no" && lists != "count")
    return reply->send(
        http::error_response(400, "?lists= must be no or count; omit it for all lists"));
  if (lists == "no") {
    core::AsciiObject json(1024);
    view::put_host(json, control.status(), view::api);
    return reply->send(json_response(200, json.finish()));
  }
  control.refresh([&control, reply, shown = lists == "count" ? Shown::totals : Shown::all] {
    send_lists(control, reply, true, shown);
  });
}

http::HttpResponse list_response(const std::optional<ListStatus>& list) {
  if (!list) return http::error_response(404, "there is no such list");
  return json_response(200, view::to_json(*list, view::detail));
}

void show_config(const Control& control, const http::HttpRequest& request, http::HttpReply& reply) {
  const auto list = request.query.find("list");
  const bool one = list != request.query.end();
  const ConfigText text = control.config_text(one ? &list->second : nullptr);
  if (one && text.lists.empty())
    return reply.send(http::error_response(404, "there is no such list"));
  reply.send(json_response(200, to_json(text)));
}

void compare_secrets(const Control& control, const http::HttpRequest& request,
                     http::HttpReply& reply) {
  const auto questions = read_secret_questions(request.body);
  if (!questions) {
    reply.send(http::error_response(400,
                                    R"(the body must be {"salt": "TEXT", "secrets": [)"
                                    R"({"list": "LIST", "key": "KEY", "digest": "TEXT"}, …]})"));
    return;
  }
  std::vector<SecretAnswer> answers;
  for (const SecretQuestion& question : questions->secrets)
    answers.push_back(control.compare_secret(question, questions->salt));
  reply.send(json_response(200, to_json(answers)));
}

EventFilter event_filter(const http::HttpRequest& request) {
  const auto value = [&](const char* name) -> std::optional<std::string> {
    const auto found = request.query.find(name);
    if (found == request.query.end()) return std::nullopt;
    return found->second;
  };
  return {value("list"), value("run")};
}

}  // namespace

void add_status_queries(http::Router& router, Control& control, EventHub& events) {
  using Show = http::HttpResponse (*)(const Control&);
  const auto show = [&](const http::Endpoint& endpoint, Show response) {
    router.on(endpoint,
              [&control, response](const http::HttpRequest&, const http::HttpReplyPtr& reply) {
                reply->send(response(control));
              });
  };
  show(endpoints::health, health_response);
  show(endpoints::ready, ready_response);
  router.on(endpoints::status,
            [&control](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              show_status(control, request, reply);
            });
  router.on(endpoints::lists,
            [&control](const http::HttpRequest&, const http::HttpReplyPtr& reply) {
              control.refresh([&control, reply] { send_lists(control, reply, false, Shown::all); });
            });
  router.on(endpoints::list,
            [&control](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              control.refresh([&control, reply, prefix = request.path.back()] {
                reply->send(list_response(control.list(prefix)));
              });
            });
  router.on(endpoints::config,
            [&control](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              show_config(control, request, *reply);
            });
  router.on(endpoints::compare_config,
            [&control](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              compare_secrets(control, request, *reply);
            });
  router.on(endpoints::events,
            [&events](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              events.subscribe(*reply, event_filter(request), request.last_event_id);
            });
}

}  // namespace w8y::api

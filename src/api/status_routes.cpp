// Status API: state of this host, its lists, its config and its events.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/api_json.hpp"
#include "api/endpoints.hpp"
#include "api/responses.hpp"
#include "api/secret_json.hpp"
#include "view/fleet_lists.hpp"
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

enum class Shown { totals, all };

/// Response about all lists, while they are iterated. The lists are encoded one by one: a JSON tree
/// of 10,000 lists takes many times the memory of its text.
class Lists {
 public:
  Lists(HostStatus host, FleetLists&& others, Shown shown)
      : host_(std::move(host)),
        others_(std::move(others)),
        shown_(shown),
        problems_(host_),
        summary_(host_, others_) {}

  /// Adds a list of this host, after the lists of other hosts whose names precede its name.
  void add(const ListStatus& list) {
    problems_.add(list);
    here_.add(list);
    put_others_until(&list.prefix);
    auto others = others_.lists.extract(list.prefix);
    put(list.prefix, others.empty() ? ListTotals() : std::move(others.mapped()), &list);
  }
  /// Returns the problems, then `host` unless it is nullptr, then the sums, then each list.
  http::HttpResponse response(const HostStatus* host) {
    put_others_until(nullptr);
    core::AsciiObject json(4096);
    json.put_json("problems", to_json(problems_.drain()));
    if (host != nullptr) view::put_host(json, *host, view::api);
    json.put_json("fleet", to_json(summary_));
    json.put_json("here", to_json(here_));
    std::string head = json.finish();
    if (shown_ == Shown::totals) return json_response(200, std::move(head));
    head.pop_back();  // the final }
    // The text of 10,000 lists has several MB. It is moved in its memory, not copied.
    text_.insert(0, head.append(",\"lists\":[")).append("]}");
    return json_response(200, std::move(text_));
  }

 private:
  /// Writes the lists that only other hosts have, up to the name `end`; nullptr = all.
  void put_others_until(const std::string* end) {
    auto& others = others_.lists;
    while (!others.empty() && (end == nullptr || others.begin()->first < *end)) {
      auto list = others.extract(others.begin());
      put(list.key(), std::move(list.mapped()), nullptr);
    }
  }
  void put(const std::string& prefix, ListTotals&& totals, const ListStatus* own) {
    if (own != nullptr) totals.add(host_.host, *own);
    // If only this host has the list, its number of runs is current. Statistics are older.
    totals.finish(own == nullptr || totals.hosts == 1 ? std::nullopt : own->stats);
    summary_.add(totals);
    if (shown_ != Shown::all) return;
    if (!text_.empty()) text_ += ',';
    text_ += view::to_json(prefix, totals, own, view::api);
  }

  const HostStatus host_;
  FleetLists others_;
  const Shown shown_;
  Problems problems_;
  HereTotals here_;
  FleetSummary summary_;
  std::string text_;
};

void send_lists(Control& control, FleetControl& fleet, const http::HttpReplyPtr& reply,
                bool with_host, Shown shown) {
  fleet.lists({}, [&control, reply, with_host, shown](FleetLists&& others) {
    const auto lists = std::make_shared<Lists>(control.status(), std::move(others), shown);
    control.each_list([lists](const ListStatus& list) { lists->add(list); },
                      [&control, lists, reply, with_host] {
                        const HostStatus host = control.status();
                        reply->send(lists->response(with_host ? &host : nullptr));
                      });
  });
}

/// With `lists=no`, shows only the host, without a query of Redis and without an iteration over the
/// lists. With `lists=count`, shows all except the individual lists.
void show_status(Control& control, FleetControl& fleet, const http::HttpRequest& request,
                 const http::HttpReplyPtr& reply) {
  const std::string lists = request.parameter("lists").value_or("");
  if (!lists.empty() && lists != "no" && lists != "count")
    return reply->send(
        http::error_response(400, "?lists= must be no or count; omit it for all lists"));
  if (lists == "no") {
    core::AsciiObject json(1024);
    view::put_host(json, control.status(), view::api);
    return reply->send(json_response(200, json.finish()));
  }
  const Shown shown = lists == "count" ? Shown::totals : Shown::all;
  control.refresh(
      [&control, &fleet, reply, shown] { send_lists(control, fleet, reply, true, shown); });
}

/// Replaces the counts of the statistics by newer ones.
void set_items(ListStatus& list, const std::optional<ListStats>& counted) {
  if (!counted) return;
  ListStats stats = *counted;
  if (list.stats) {
    stats.slots = list.stats->slots;
    stats.slots_needed = list.stats->slots_needed;
    stats.cycles = std::move(list.stats->cycles);
  }
  list.stats = std::move(stats);
}

http::HttpResponse list_response(const std::string& prefix, const std::string& host,
                                 const std::optional<ListStatus>& own, FleetLists&& others) {
  auto found = others.lists.extract(prefix);
  if (!own && found.empty()) return http::error_response(404, "there is no such list");
  ListTotals totals = found.empty() ? ListTotals() : std::move(found.mapped());
  if (own) totals.add(host, *own);
  totals.finish(own ? own->stats : std::nullopt);
  return json_response(200, view::to_json(prefix, totals, own ? &*own : nullptr, view::detail));
}

void show_list(Control& control, FleetControl& fleet, const http::HttpRequest& request,
               const http::HttpReplyPtr& reply) {
  control.refresh([&control, &fleet, reply, prefix = request.path.back()] {
    fleet.lists(prefix, [&control, reply, prefix](FleetLists&& others) {
      const auto rest = std::make_shared<FleetLists>(std::move(others));
      control.count_items(
          prefix, [&control, reply, prefix, rest](const std::optional<ListStats>& counted) {
            std::optional<ListStatus> own = control.list(prefix);
            if (own) set_items(*own, counted);
            reply->send(list_response(prefix, control.status().host, own, std::move(*rest)));
          });
    });
  });
}

void show_config(const Control& control, const http::HttpRequest& request,
                 const http::HttpReplyPtr& reply) {
  const auto list = request.parameter("list");
  const ConfigText text = control.config_text(list ? &*list : nullptr);
  if (list && text.lists.empty())
    return reply->send(http::error_response(404, "there is no such list"));
  reply->send(json_response(200, to_json(text)));
}

void compare_secrets(const Control& control, const http::HttpRequest& request,
                     const http::HttpReplyPtr& reply) {
  const auto questions = read_secret_questions(request.body);
  if (!questions) {
    reply->send(http::error_response(400,
                                     R"(the body must be {"salt": "TEXT", "secrets": [)"
                                     R"({"list": "LIST", "key": "KEY", "digest": "TEXT"}, …]})"));
    return;
  }
  std::vector<SecretAnswer> answers;
  for (const SecretQuestion& question : questions->secrets)
    answers.push_back(control.compare_secret(question, questions->salt));
  reply->send(json_response(200, to_json(answers)));
}

}  // namespace

void add_status_queries(http::Router& router, Control& control, FleetControl& fleet,
                        EventHub& events) {
  using Show = http::HttpResponse (*)(const Control&);
  const auto show = [&](const http::Endpoint& endpoint, Show response) {
    router.on(endpoint,
              [&control, response](const http::HttpRequest&, const http::HttpReplyPtr& reply) {
                reply->send(response(control));
              });
  };
  show(endpoints::health, health_response);
  show(endpoints::ready, ready_response);
  router.on(endpoints::status, std::bind_front(show_status, std::ref(control), std::ref(fleet)));
  router.on(endpoints::lists,
            [&control, &fleet](const http::HttpRequest&, const http::HttpReplyPtr& reply) {
              control.refresh([&control, &fleet, reply] {
                send_lists(control, fleet, reply, false, Shown::all);
              });
            });
  router.on(endpoints::list, std::bind_front(show_list, std::ref(control), std::ref(fleet)));
  router.on(endpoints::config, std::bind_front(show_config, std::cref(control)));
  router.on(endpoints::compare_config, std::bind_front(compare_secrets, std::cref(control)));
  router.on(endpoints::events,
            [&events](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
              events.subscribe(*reply, {request.parameter("list"), request.parameter("run")},
                               request.last_event_id);
            });
}

}  // namespace w8y::api

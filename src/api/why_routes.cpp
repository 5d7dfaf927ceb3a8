// Why an item does not run, or what limits a list.
#include <memory>
#include <optional>
#include <utility>

#include "api/endpoints.hpp"
#include "api/parameters.hpp"
#include "api/query_at.hpp"
#include "api/responses.hpp"
#include "operator/fleet.hpp"
#include "operator/why.hpp"

namespace w8y::api {

namespace {

using verbs::QueryContext;

constexpr unsigned no_such = 404;

/// A question and its reply. The thread of the QueryRunner also fills in the question; the reply
/// stays with the loop.
struct AskedWhy {
  std::shared_ptr<verbs::WhyQuestion> question;
  http::HttpReplyPtr reply;
};

http::HttpResponse why_answer(const verbs::WhyQuestion& question, const Why& why) {
  return json_response(why.unknown() ? no_such : 200, why_json(why, question.list, question.item,
                                                               wall_time() - question.requested));
}

void explain_now(const Routes& routes, const AskedWhy& asked) {
  routes.queries.run(
      [question = asked.question](QueryContext& query) {
        return why_answer(*question, verbs::explain(query, *question));
      },
      [reply = asked.reply](http::HttpResponse answer) { reply->send(std::move(answer)); },
      asked.reply->trusted());
}

/// Responds with the facts that this host has without Redis. Returns false if Redis is available.
bool answer_without_redis(const Routes& routes, const AskedWhy& asked, const std::string& error) {
  const HostStatus host = routes.control.status();
  if (!host.has_redis) {
    asked.reply->send(http::error_response(503, verbs::no_redis));
    return true;
  }
  if (host.redis.connected) return false;
  const verbs::WhyQuestion& question = *asked.question;
  asked.reply->send(why_answer(
      question, why_unavailable(host.host, host.redis.error.empty() ? error : host.redis.error,
                                host.redis.away_since, host.now, question.time_text)));
  return true;
}

/// Queries the runs of the list on all hosts, then Redis.
void ask_hosts(const Routes& routes, const AskedWhy& asked) {
  FleetCommand order;
  order.kind = FleetCommandKind::runs;
  order.list = asked.question->list;
  routes.fleet.send(std::move(order), [routes, asked](const FleetCommandResult& outcome) {
    // Hosts that cannot be queried still have their heartbeats.
    if (outcome.error.empty()) asked.question->replies = outcome;
    explain_now(routes, asked);
  });
}

/// Starts with the hosts of the fleet.
void query_why(const Routes& routes, const AskedWhy& asked) {
  routes.queries.run(
      [question = asked.question](QueryContext& query) {
        question->hosts = verbs::hosts_of_list(query, question->list).hosts;
        return http::HttpResponse{};
      },
      [routes, asked](http::HttpResponse hosts) {
        if (hosts.status == 200) return ask_hosts(routes, asked);
        if (hosts.status == 503) {
          if (!answer_without_redis(routes, asked, error_in(hosts)))
            asked.reply->send(std::move(hosts));
          return;
        }
        asked.question->fleet_error = error_in(hosts);
        explain_now(routes, asked);
      },
      asked.reply->trusted());
}

void on_why(const Routes& routes, const http::HttpRequest& request, std::optional<Item> item,
            const http::HttpReplyPtr& reply) {
  const std::string times = text_of(request, "times");
  if (!times.empty() && times != "marked")
    return reply->send(http::error_response(bad_request, "?times= accepts only the value marked"));
  const auto question = std::make_shared<verbs::WhyQuestion>();
  question->list = request.path[3];
  question->item = std::move(item);
  question->requested = wall_time();
  if (!times.empty()) question->time_text = marked_time;
  query_why(routes, {question, reply});
}

}  // namespace

void add_why(const Routes& routes) {
  routes.router.on(endpoints::why_list,
                   [routes](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
                     on_why(routes, request, std::nullopt, reply);
                   });
  routes.router.on(endpoints::why_item,
                   [routes](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
                     on_why(routes, request, request.path[5], reply);
                   });
}

}  // namespace w8y::api

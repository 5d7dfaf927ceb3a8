// Why an item does not run, or a list not faster.
#include <memory>
#include <optional>
#include <utility>

#include "api/parameters.hpp"
#include "api/query_at.hpp"
#include "operator/fleet.hpp"
#include "operator/why.hpp"

namespace w8y::api {

namespace {

using http::HttpReplyPtr;
using http::HttpRequest;
using verbs::QueryContext;

constexpr unsigned no_such = 404;

struct AskedWhy {
  verbs::WhyQuestion question;
  http::HttpReplyPtr reply;
};
using AskedWhyPtr = std::shared_ptr<AskedWhy>;

http::HttpResponse why_answer(const verbs::WhyQuestion& question, const Why& why) {
  return json_answer(verbs::why_json(question, why, wall_time()), why.unknown() ? no_such : 200);
}

void explain_now(const Routes& routes, const AskedWhyPtr& asked) {
  routes.queries.run(
      [asked](QueryContext& query) {
        return why_answer(asked->question, verbs::explain(query, asked->question));
      },
      [asked](http::HttpResponse answer) { asked->reply->send(std::move(answer)); },
      asked->reply->trusted());
}

/// Redis is away: what this host knows itself.
void answer_without_redis(const Routes& routes, const AskedWhy& asked, const std::string& trouble) {
  const HostStatus host = routes.control.status();
  if (!host.has_redis) return asked.reply->send(http::error_response(conflict, verbs::no_redis));
  asked.reply->send(why_answer(
      asked.question,
      why_unavailable(host.host, host.redis.trouble.empty() ? trouble : host.redis.trouble,
                      host.redis.away_since, host.now)));
}

/// What the hosts run of the list, then Redis.
void ask_hosts(const Routes& routes, const AskedWhyPtr& asked) {
  FleetOrder order;
  order.kind = OrderKind::runs;
  order.list = asked->question.list;
  routes.fleet.give(std::move(order), [routes, asked](const FleetOutcome& outcome) {
    // Who can't ask hosts still has what they have told.
    if (outcome.trouble.empty()) asked->question.replies = outcome;
    explain_now(routes, asked);
  });
}

/// The hosts of the fleet first.
void ask_why(const Routes& routes, const AskedWhyPtr& asked) {
  routes.queries.run(
      [asked](QueryContext& query) {
        verbs::WhyQuestion& question = asked->question;
        question.hosts = verbs::hosts_of_list({query.redis, query.fleet}, question.list).hosts;
        return http::HttpResponse{};
      },
      [routes, asked](const http::HttpResponse& hosts) {
        if (hosts.status == 200) return ask_hosts(routes, asked);
        const std::string trouble = error_in(hosts);
        if (hosts.status == 503) return answer_without_redis(routes, *asked, trouble);
        asked->question.fleet_trouble = trouble;
        explain_now(routes, asked);
      },
      asked->reply->trusted());
}

void on_why(const Routes& routes, const http::HttpRequest& request, std::optional<Item> item,
            const http::HttpReplyPtr& reply) {
  const std::string times = text_of(request, "times");
  if (!times.empty() && times != "marked")
    return reply->send(http::error_response(bad_request, "?times= is marked, or is left out"));
  verbs::WhyQuestion question;
  question.list = request.path[3];
  question.item = std::move(item);
  question.asked = wall_time();
  if (!times.empty()) question.time_text = marked_time;
  ask_why(routes, std::make_shared<AskedWhy>(AskedWhy{std::move(question), reply}));
}

}  // namespace

void add_why(const Routes& routes) {
  routes.router.on("GET", "/api/v1/lists/*/why", {"times"},
                   [routes](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
                     on_why(routes, request, std::nullopt, reply);
                   });
  routes.router.on("GET", "/api/v1/lists/*/items/*/why", {"times"},
                   [routes](const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
                     on_why(routes, request, request.path[5], reply);
                   });
}

}  // namespace w8y::api

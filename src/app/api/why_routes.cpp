// Why an item does not run, or a list not faster.
#include <memory>
#include <optional>
#include <utility>

#include "app/api/parameters.hpp"
#include "app/api/query_at.hpp"
#include "operator/fleet.hpp"
#include "operator/lists.hpp"
#include "operator/why.hpp"

namespace w8y::app::api {

namespace {

using ops::HttpReplyPtr;
using ops::HttpRequest;
using verbs::QueryContext;

constexpr unsigned no_such = 404;

/// What is known before Redis is looked at.
struct AskedWhy {
  std::string list;
  std::optional<Item> item;
  std::vector<FleetHost> hosts;
  FleetOutcome replies;
  std::string fleet_trouble;
  HttpReplyPtr reply;
};
using AskedWhyPtr = std::shared_ptr<AskedWhy>;

ops::HttpResponse why_answer(const verbs::WhyQuestion& question, const Why& why) {
  core::AsciiObject json(1024);
  verbs::put_why(json, question, why);
  if (why.unknown()) json.put("error", why.sentences.front().text);
  return json_answer(json.take(), why.unknown() ? no_such : 200);
}

ops::HttpResponse look_at_why(QueryContext& query, const AskedWhy& asked) {
  verbs::kind_of(query, asked.list);  // throws where there is none
  verbs::WhyQuestion question;
  question.list = asked.list;
  question.item = asked.item;
  question.fleet_trouble = asked.fleet_trouble;
  question.hosts = asked.hosts;
  question.replies = asked.replies;
  return why_answer(question, verbs::explain(query, question));
}

void look_why_now(const Routes& routes, const AskedWhyPtr& asked) {
  routes.queries.run([asked](QueryContext& query) { return look_at_why(query, *asked); },
                     [asked](ops::HttpResponse answer) { asked->reply->send(std::move(answer)); },
                     asked->reply->trusted());
}

/// Redis is away: what this host knows itself.
void answer_without_redis(const Routes& routes, const AskedWhy& asked, const std::string& trouble) {
  const HostStatus host = routes.control.status();
  verbs::WhyQuestion question;
  question.list = asked.list;
  question.item = asked.item;
  asked.reply->send(why_answer(
      question,
      why_unavailable(host.host, host.redis.trouble.empty() ? trouble : host.redis.trouble,
                      host.redis.away_since, host.now)));
}

/// What the hosts run of the list, then Redis.
void ask_hosts(const Routes& routes, const AskedWhyPtr& asked) {
  FleetOrder order;
  order.kind = OrderKind::runs;
  order.list = asked->list;
  routes.fleet.give(std::move(order), [routes, asked](const FleetOutcome& outcome) {
    // Who can't ask hosts still has what they have told.
    if (outcome.trouble.empty()) asked->replies = outcome;
    look_why_now(routes, asked);
  });
}

/// The hosts of the fleet first.
void ask_why(const Routes& routes, const AskedWhyPtr& asked) {
  routes.queries.run(
      [asked](QueryContext& query) {
        asked->hosts = verbs::hosts_of_list({query.redis, query.fleet}, asked->list).hosts;
        return ops::HttpResponse{};
      },
      [routes, asked](const ops::HttpResponse& hosts) {
        if (hosts.status == 200) return ask_hosts(routes, asked);
        const std::string trouble = error_in(hosts);
        if (hosts.status == 503) return answer_without_redis(routes, *asked, trouble);
        asked->fleet_trouble = trouble;
        look_why_now(routes, asked);
      },
      asked->reply->trusted());
}

}  // namespace

void add_why(const Routes& routes) {
  routes.router.on("GET", "/api/v1/lists/*/why", {},
                   [routes](const HttpRequest& request, const HttpReplyPtr& reply) {
                     ask_why(routes, std::make_shared<AskedWhy>(AskedWhy{
                                         request.path[3], std::nullopt, {}, {}, {}, reply}));
                   });
  routes.router.on("GET", "/api/v1/lists/*/items/*/why", {},
                   [routes](const HttpRequest& request, const HttpReplyPtr& reply) {
                     ask_why(routes, std::make_shared<AskedWhy>(AskedWhy{
                                         request.path[3], request.path[5], {}, {}, {}, reply}));
                   });
}

}  // namespace w8y::app::api

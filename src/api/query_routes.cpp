#include <utility>

#include "api/parameters.hpp"
#include "api/query_at.hpp"
#include "api/query_json.hpp"
#include "api/responses.hpp"
#include "operator/items.hpp"
#include "operator/statistics.hpp"

namespace w8y::api {

namespace {

using verbs::QueryContext;

verbs::RunFilter run_filter(const http::HttpRequest& request) {
  verbs::RunFilter filter{.item = {},
                          .outcomes = outcomes_of(request),
                          .failed = yes_of(request, "failed"),
                          .host = text_of(request, "host"),
                          .since = {},
                          .group = text_of(request, "group")};
  if (request.query.contains("item")) filter.item = text_of(request, "item");
  return filter;
}

/// Returns the value of ?span=. Refuses a value other than "hour" and "day".
view::Span span_of(const http::HttpRequest& request) {
  if (!request.query.contains("span")) return view::span_hour;
  const std::string span = text_of(request, "span");
  if (span == view::span_hour.name) return view::span_hour;
  if (span == view::span_day.name) return view::span_day;
  throw verbs::QueryError(bad_request, "?span= must be hour or day");
}

}  // namespace

void refuse_in_conflict(const Routes& routes) {
  const std::string text = routes.control.status().format_conflict;
  if (!text.empty()) throw verbs::QueryError(conflict, text);
}

void send_refusal(const http::HttpReplyPtr& reply, const verbs::QueryError& refusal) {
  reply->send(http::error_response(refusal.status(), refusal.what()));
}

http::Router::Handler refusing(http::Router::Handler handler) {
  return [handler = std::move(handler)](const http::HttpRequest& request,
                                        const http::HttpReplyPtr& reply) {
    try {
      handler(request, reply);
    } catch (const verbs::QueryError& refusal) {
      send_refusal(reply, refusal);
    }
  };
}

void query_at(const Routes& routes, const http::Endpoint& endpoint, Question question) {
  const bool changes = endpoint.method != std::string_view("GET");
  routes.router.on(
      endpoint, refusing([routes, changes, question = std::move(question)](
                             const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
        if (changes) refuse_in_conflict(routes);
        routes.queries.run(
            [query = question(request),
             by = changes ? by_of(request, routes) : std::string()](QueryContext& context) {
              context.by = by;
              return json_response(200, query(context));
            },
            [reply](http::HttpResponse answer) { reply->send(std::move(answer)); },
            reply->trusted());
      }));
}

void add_queries(const Routes& routes) {
  query_at(routes, endpoints::runs, [](const http::HttpRequest& request) {
    return [list = list_of(request), filter = run_filter(request), part = part_of(request)](
               QueryContext& query) { return runs_json(query, list, filter, part); };
  });
  query_at(routes, endpoints::errors, [](const http::HttpRequest& request) {
    return [filter = verbs::ErrorFilter{.list = list_of(request),
                                        .since = since_of(request),
                                        .max_groups = part_of(request).limit}](
               QueryContext& query) { return to_json(verbs::group_errors(query, filter)); };
  });
  query_at(routes, endpoints::statistics, [](const http::HttpRequest& request) {
    return [list = list_of(request), span = span_of(request)](QueryContext& query) {
      return view::to_json(verbs::read_statistics(query, list, span));
    };
  });
  query_at(routes, endpoints::items, [](const http::HttpRequest& request) {
    return [list = request.path[3],
            filter = verbs::ItemFilter{text_of(request, "state"), text_of(request, "search")},
            part = part_of(request)](QueryContext& query) {
      verbs::ItemsPage page = verbs::list_items(query, list, filter, part);
      verbs::read_payloads(query, list, *page.kind, page.items, false);
      return items_json(list, page);
    };
  });
  query_at(routes, endpoints::item, [](const http::HttpRequest& request) {
    return [list = request.path[3], item = request.path[5]](QueryContext& query) {
      return item_json(list, verbs::show_item(query, list, item));
    };
  });
  query_at(routes, endpoints::schedules, [](const http::HttpRequest& request) {
    const bool one = request.query.contains("list");
    if (!one && request.query.contains("state"))
      throw verbs::QueryError(
          400, "?state= filters the jobs of one schedule; name the schedule with ?list=");
    return [one, list = text_of(request, "list"), state = text_of(request, "state"),
            part = part_of(request)](QueryContext& query) {
      return one ? schedule_json(verbs::show_schedule(query, list, state, part))
                 : schedules_json(verbs::list_schedules(query, part));
    };
  });
  query_at(routes, endpoints::feeds, [](const http::HttpRequest& request) {
    return [part = part_of(request)](QueryContext& query) {
      return feeds_json(verbs::list_feeds(query, part));
    };
  });
}

void add_routes(const Routes& routes) {
  add_queries(routes);
  add_fleet_view(routes);
  add_run_routes(routes);
  add_changes(routes);
  add_producer_routes(routes);
  add_why(routes);
}

}  // namespace w8y::api

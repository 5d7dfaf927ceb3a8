// Changes of lists and items, as w8yctl makes them.

#include <map>
#include <string>
#include <utility>

#include "api/parameters.hpp"
#include "api/producer_write.hpp"
#include "api/query_at.hpp"
#include "api/responses.hpp"
#include "core/json_object.hpp"
#include "operator/changes.hpp"
#include "operator/error_changes.hpp"
#include "operator/item_changes.hpp"
#include "operator/lists.hpp"
#include "operator/stored.hpp"
#include "view/list_view.hpp"
#include "view/run_view.hpp"

namespace w8y::api {

namespace {

using verbs::QueryContext;

/// Returns the JSON of a change. Throws verbs::QueryError if the item was not changed. `all` has
/// one item.
std::string change_json(const std::string& list, const std::vector<verbs::ChangedItem>& all) {
  const verbs::ChangedItem& changed = all.front();
  if (!changed.done)
    throw verbs::QueryError(changed.result == "not in the list" ? 404 : conflict,
                            verbs::item_text(changed.item) + ": " + changed.result);
  core::AsciiObject json;
  json.put("result", changed.result);
  json.put_bytes("list", list);
  view::put_item(json, "item", changed.item);
  return json.finish();
}

/// Changes the items of a group of errors. The response counts them by result.
std::string change_errors(verbs::GroupChange change, QueryContext& query,
                          const http::HttpRequest& request) {
  const view::JsonFields body = body_of(request.body, {"reason", "by"});
  const verbs::ChangeNote note{query.by, text_in(body, "reason"), wall_time()};
  const std::string &list = request.path[3], &group = request.path[5];
  const verbs::ChangedGroup all = verbs::write(query, [&] {
    return verbs::change_group(query, list, group, since_of(request), change, note);
  });
  std::map<std::pair<bool, std::string>, std::size_t> counts;
  for (const verbs::ChangedItem& each : all.items) ++counts[{!each.done, each.result}];
  core::AsciiObject json;
  json.put_bytes("list", list);
  json.put("group", group);
  json.put("changed", all.changed());
  json.put_json("results", core::json_array(counts, [](const auto& each) {
                  core::AsciiObject result;
                  result.put("result", each.first.second);
                  result.put("done", !each.first.first);
                  result.put("items", each.second);
                  return result.finish();
                }));
  json.put("too_long", all.too_long);
  json.put("complete", all.complete);
  return json.finish();
}

struct ItemToRun {
  std::string list;
  Item item;
  std::string by;
};

/// Starts a run on this host, or on the host that the request names, and then records the operator.
void run_item(const Routes& routes, const http::HttpRequest& request,
              const http::HttpReplyPtr& reply, const ItemToRun& wanted) {
  refuse_in_conflict(routes);
  const auto respond = [&queries = routes.queries, reply,
                        wanted](const http::HttpResponse& response) {
    if (response.status != 200) return reply->send(response);
    queries.run(
        [wanted](QueryContext& query) {
          query.by = wanted.by;
          verbs::record_changes(query, wanted.list, "started", {wanted.item});
          return http::HttpResponse{};
        },
        [reply, response](const http::HttpResponse&) { reply->send(response); }, reply->trusted());
  };
  auto host = request.parameter("host");
  if (!host)
    return routes.control.run_item(
        wanted.list, wanted.item,
        [respond](const CommandResult& result) { respond(result_response(result)); });
  FleetCommand order;
  order.kind = FleetCommandKind::run;
  order.host = std::move(*host);
  order.list = wanted.list;
  order.item = wanted.item;
  order.by = wanted.by;
  routes.fleet.send(std::move(order), [respond](const FleetCommandResult& outcome) {
    respond(outcome_response(outcome));
  });
}

void add_list_changes(const Routes& routes) {
  query_at(routes, endpoints::pause_list, [routes](const http::HttpRequest& request) {
    const view::JsonFields body = body_of(request.body, {"reason", "for", "by"});
    Pause pause{text_in(body, "reason"), by_in(body, routes), wall_time(), WallTime(0)};
    const auto period = duration_in(body, "for");
    if (period) pause.until = pause.since + std::chrono::duration_cast<WallTime>(*period);
    return [list = request.path[3], pause, period](QueryContext& query) {
      verbs::kind_of(query, list);  // throws if there is no such list
      verbs::pause_list(query, list, pause, period);
      return view::pause_json(list, pause);
    };
  });
  query_at(routes, endpoints::resume_list, [](const http::HttpRequest& request) {
    static_cast<void>(body_of(request.body, {"by"}));
    return [list = request.path[3]](QueryContext& query) {
      verbs::kind_of(query, list);
      return view::resume_json(list, verbs::resume_list(query, list));
    };
  });
}

void add_item_changes(const Routes& routes) {
  query_at(routes, endpoints::quarantine_item, [routes](const http::HttpRequest& request) {
    const view::JsonFields body = body_of(request.body, {"reason", "by"});
    const verbs::ChangeNote note{by_in(body, routes), text_in(body, "reason"), wall_time()};
    return [list = request.path[3], item = request.path[5], note](QueryContext& query) {
      verbs::kind_of(query, list);
      return change_json(list, verbs::quarantine_items(query, list, {item}, note));
    };
  });
  query_at(routes, endpoints::release_item, [](const http::HttpRequest& request) {
    static_cast<void>(body_of(request.body, {"by"}));
    return [list = request.path[3], item = request.path[5]](QueryContext& query) {
      verbs::kind_of(query, list);
      return change_json(list, verbs::release_items(query, list, {item}));
    };
  });
  query_at(routes, endpoints::move_first, [](const http::HttpRequest& request) {
    static_cast<void>(body_of(request.body, {"by"}));
    return [list = request.path[3], item = request.path[5]](QueryContext& query) {
      verbs::kind_of(query, list);
      return change_json(list, {verbs::move_first(query, list, item)});
    };
  });
  for (const auto& [endpoint, change] :
       {std::pair(endpoints::release_group, verbs::GroupChange::release),
        std::pair(endpoints::quarantine_group, verbs::GroupChange::quarantine),
        std::pair(endpoints::retry_group, verbs::GroupChange::retry)})
    write_at(routes, endpoint,
             [change = change](QueryContext& query, const http::HttpRequest& request) {
               return change_errors(change, query, request);
             });
  write_at(
      routes, endpoints::rerun_item, [](QueryContext& query, const http::HttpRequest& request) {
        static_cast<void>(body_of(request.body, {"by"}));
        const std::string &list = request.path[3], &item = request.path[5];
        return change_json(
            list, verbs::write(query, [&] { return verbs::rerun_items(query, list, {item}); }));
      });
  const auto run_at = [&routes](const http::Endpoint& endpoint, auto item_of) {
    routes.router.on(endpoint, refusing([routes, item_of](const http::HttpRequest& request,
                                                          const http::HttpReplyPtr& reply) {
                       run_item(routes, request, reply, item_of(request));
                     }));
  };
  run_at(endpoints::run_item, [routes](const http::HttpRequest& request) {
    return ItemToRun{request.path[3], request.path[5], by_of(request, routes)};
  });
  run_at(endpoints::start_run, [routes](const http::HttpRequest& request) {
    const auto body = view::JsonFields::parse(request.body);
    const auto list = body ? body->bytes("list") : std::nullopt;
    const auto item = body ? body->bytes("item") : std::nullopt;
    if (!list || !item)
      throw verbs::QueryError(bad_request, R"(the body must be {"list": "LIST", "item": "ITEM"})");
    return ItemToRun{*list, *item, by_in(*body, routes)};
  });
}

}  // namespace

void add_changes(const Routes& routes) {
  add_list_changes(routes);
  add_item_changes(routes);
}

}  // namespace w8y::api

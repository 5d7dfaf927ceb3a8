// Changes of lists and items, as w8yctl makes them.
#include <utility>

#include "app/api/parameters.hpp"
#include "app/api/query_at.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "operator/changes.hpp"
#include "operator/lists.hpp"
#include "ops/api_parts.hpp"
#include "view/run_view.hpp"

namespace w8y::app::api {

namespace {

using ops::HttpReplyPtr;
using ops::HttpRequest;
using verbs::QueryContext;

/// The list of this name, whatever its kind of work.
store::CircularKeys keys_of(QueryContext& query, const std::string& list) {
  verbs::kind_of(query, list);  // throws where there is none
  return verbs::circular_keys(query, list);
}

/// What is done with items of circular lists is done otherwise with jobs.
store::CircularKeys items_of(QueryContext& query, const std::string& list) {
  switch (verbs::kind_of(query, list)) {
    case SourceKind::schedule:
      throw verbs::Refusal(conflict, escape_text(list) +
                                         " is a schedule, whose jobs are set and shown by: w8yctl "
                                         "schedule -k " +
                                         escape_text(list));
    case SourceKind::job:
      throw verbs::Refusal(conflict, escape_text(list) +
                                         " is a feed of jobs, which are put and changed by: w8yctl "
                                         "job");
    case SourceKind::gearman:
      throw verbs::Refusal(conflict, escape_text(list) + " " + verbs::jobs_are_gearmands);
    case SourceKind::circular:
      break;
  }
  return verbs::circular_keys(query, list);
}

/// Of an item that could not be changed, the error.
std::string changed(const std::string& list, const Item& item, const verbs::ChangeResult& result) {
  if (!result.good) {
    const bool missing = std::string_view(result.text) == "not in the list";
    throw verbs::Refusal(missing ? 404 : conflict, escape_text(item) + ": " + result.text);
  }
  core::AsciiObject json;
  json.put("result", result.text);
  json.put_bytes("list", list);
  view::put_item(json, "item", item);
  return json.take();
}

void add_list_changes(const Routes& routes) {
  query_at(routes, "POST", "/api/v1/lists/*/pause", {}, [routes](const HttpRequest& request) {
    const view::JsonFields body = body_of(request, {"reason", "for", "by"});
    Pause pause{text_in(body, "reason"), by_in(body, routes), wall_time(), WallTime(0)};
    const auto period = duration_in(body, "for");
    if (period) pause.until = pause.since + std::chrono::duration_cast<WallTime>(*period);
    return [list = request.path[3], pause, period](QueryContext& query) {
      verbs::pause_list(query.redis, keys_of(query, list), pause, period);
      verbs::tell_change(query.redis, query.config.supervisor.fleet, list);
      return verbs::pause_json(list, pause);
    };
  });
  query_at(routes, "POST", "/api/v1/lists/*/resume", {}, [](const HttpRequest& request) {
    static_cast<void>(body_of(request, {"by"}));
    return [list = request.path[3]](QueryContext& query) {
      const bool was_paused = verbs::resume_list(query.redis, keys_of(query, list));
      verbs::tell_change(query.redis, query.config.supervisor.fleet, list);
      return verbs::resume_json(list, was_paused);
    };
  });
}

void add_item_changes(const Routes& routes) {
  query_at(routes, "POST", "/api/v1/lists/*/items/*/quarantine", {},
           [routes](const HttpRequest& request) {
             const view::JsonFields body = body_of(request, {"reason", "by"});
             const store::QuarantineNote note{
                 {}, by_in(body, routes), text_in(body, "reason"), wall_time()};
             return [list = request.path[3], item = request.path[5], note](QueryContext& query) {
               store::ItemChanges changes(query.redis, items_of(query, list));
               return changed(list, item,
                              verbs::result_of(changes.quarantine({item}, note).front()));
             };
           });
  query_at(routes, "POST", "/api/v1/lists/*/items/*/release", {}, [](const HttpRequest& request) {
    static_cast<void>(body_of(request, {"by"}));
    return [list = request.path[3], item = request.path[5]](QueryContext& query) {
      store::ItemChanges changes(query.redis, items_of(query, list));
      return changed(list, item, verbs::result_of(changes.release({item}).front()));
    };
  });
  routes.router.on("POST", "/api/v1/lists/*/items/*/run", {},
                   [routes](const HttpRequest& request, const HttpReplyPtr& reply) {
                     routes.control.run_item(request.path[3], request.path[5],
                                             [reply](const ops::ControlResult& result) {
                                               reply->send(ops::result_response(result));
                                             });
                   });
}

}  // namespace

void add_changes(const Routes& routes) {
  add_list_changes(routes);
  add_item_changes(routes);
}

}  // namespace w8y::app::api

// The fleet, in pages.
#include "api/parameters.hpp"
#include "api/query_at.hpp"
#include "api/query_json.hpp"

namespace w8y::api {

namespace {

using verbs::QueryContext;

verbs::FleetWish fleet_wish(const http::HttpRequest& request) {
  verbs::FleetWish wish;
  const std::string lists = text_of(request, "lists");
  if (request.query.contains("lists") && lists != "yes" && lists != "no")
    throw verbs::QueryError(bad_request, "?lists= must be yes or no");
  // Over TCP, lists are omitted by default: any user may send requests, and lists are the main
  // cost.
  wish.lists = lists.empty() ? !request.over_tcp : lists == "yes";
  if (request.query.contains("list") && lists != "no") wish.list = text_of(request, "list");
  if (request.query.contains("host")) wish.host = text_of(request, "host");
  wish.part = part_of(request);
  if (!request.query.contains("limit")) wish.part.limit = verbs::max_view_hosts;
  return wish;
}

}  // namespace

void add_fleet_view(const Routes& routes) {
  query_at(routes, endpoints::fleet, [](const http::HttpRequest& request) {
    return [wish = fleet_wish(request)](verbs::QueryContext& query) {
      return fleet_json(query, wish);
    };
  });
  query_at(routes, endpoints::fleet_problems, [](const http::HttpRequest&) {
    return [](verbs::QueryContext& query) {
      core::AsciiObject json(1024);
      json.put_json("problems", to_json(verbs::fleet_problems(query)));
      return json.finish();
    };
  });
  query_at(routes, endpoints::forget_host, [](const http::HttpRequest& request) {
    static_cast<void>(body_of(request.body, {"by"}));
    return [name = request.path[4]](QueryContext& query) {
      verbs::forget_host(query, name);
      core::AsciiObject json(64);
      json.put_bytes("host", name);
      json.put("result", "forgotten");
      return json.finish();
    };
  });
}

}  // namespace w8y::api

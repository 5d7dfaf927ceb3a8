#include "api/problems_endpoint.hpp"

#include <algorithm>
#include <utility>

#include "api/endpoints.hpp"
#include "core/json_object.hpp"
#include "operator/fleet.hpp"
#include "view/json_fields.hpp"

namespace w8y::api {

namespace {

/// Returns the response without its last brace. `fleet_error`: why the fleet cannot be read; empty
/// if it can.
http::HttpResponse problems_response(const std::vector<Problem>& problems,
                                     const std::string& fleet_error) {
  core::AsciiObject json(1024);
  json.put_json("problems", to_json(problems));
  if (!fleet_error.empty()) json.put("fleet_error", fleet_error);
  http::HttpResponse response;
  response.body = json.finish();
  response.body.pop_back();
  return response;
}

/// Adds the problems of the fleet that are not about `host`, and sorts all, the most severe first.
std::vector<Problem> merged(std::vector<Problem> own, std::vector<Problem>&& fleet,
                            const std::string& host) {
  limit_per_kind(fleet);
  for (Problem& problem : fleet)
    if (problem.host != host) own.push_back(std::move(problem));
  std::ranges::stable_sort(own, {}, &Problem::kind);
  return own;
}

}  // namespace

void ProblemsEndpoint::add_to(http::Router& router) {
  router.on(endpoints::problems, [this](const http::HttpRequest&, const http::HttpReplyPtr& reply) {
    if (shared_.send_to(reply)) read(reply->trusted());
  });
}

void ProblemsEndpoint::read(bool trusted) {
  const std::weak_ptr<bool> alive = alive_;
  control_.refresh([this, alive, trusted] {
    if (alive.expired()) return;
    const auto own = std::make_shared<Problems>(control_.status());
    control_.each_list([own](const ListStatus& list) { own->add(list); },
                       [this, alive, own, trusted] {
                         if (!alive.expired()) read_fleet(own->drain(), trusted);
                       });
  });
}

void ProblemsEndpoint::read_fleet(std::vector<Problem>&& own, bool trusted) {
  const HostStatus host = control_.status();
  // There is no fleet without Redis in the config. An outage is already a problem of the host.
  if (!host.has_redis || !host.redis.connected || !host.redis.error.empty())
    return shared_.finish(problems_response(own, ""));
  const auto shared_own = std::make_shared<const std::vector<Problem>>(std::move(own));
  queries_.run(
      [shared_own, name = host.host](verbs::QueryContext& query) {
        return problems_response(merged(*shared_own, verbs::fleet_problems(query), name), "");
      },
      [this, alive = std::weak_ptr<bool>(alive_), shared_own](http::HttpResponse response) {
        if (alive.expired()) return;
        if (response.status != 200) {
          const auto body = view::JsonFields::parse(response.body);
          response = problems_response(*shared_own, body ? body->text("error") : response.body);
        }
        shared_.finish(std::move(response));
      },
      trusted);
}

}  // namespace w8y::api

#include "api/ring_endpoint.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/endpoints.hpp"
#include "api/query_json.hpp"
#include "core/number.hpp"

namespace w8y::api {

namespace {

/// Number of lists whose rotation and response are kept.
constexpr std::size_t max_rings = 16;

std::size_t max_of(const http::HttpRequest& request, std::string& error) {
  const auto text = request.parameter("most");
  if (!text) return verbs::max_in_ring;
  const auto most = read_integer(*text, {1, verbs::max_in_ring});
  if (!most) error = "?most= must be a number from 1 to " + std::to_string(verbs::max_in_ring);
  return static_cast<std::size_t>(most.value_or(0));
}

}  // namespace

void RingEndpoint::add_to(http::Router& router) {
  router.on(endpoints::ring, std::bind_front(&RingEndpoint::query, this));
}

void RingEndpoint::query(const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
  std::string error;
  const std::size_t most = max_of(request, error);
  if (!error.empty()) return reply->send(http::error_response(400, error));
  const std::string& prefix = request.path[3];
  forget_old();
  RingPtr& ring = rings_[std::to_string(most) + ":" + prefix];
  if (!ring) ring = std::make_shared<Ring>(loop_);
  if (ring->shared.send_to(reply)) read(prefix, most, ring, reply->trusted());
}

void RingEndpoint::forget_old() {
  if (rings_.size() < max_rings) return;
  const auto oldest =
      std::min_element(rings_.begin(), rings_.end(), [](const auto& a, const auto& b) {
        return a.second->shared.started() < b.second->shared.started();
      });
  if (!oldest->second->shared.busy()) rings_.erase(oldest);
}

void RingEndpoint::read(const std::string& prefix, std::size_t most, const RingPtr& ring,
                        bool trusted) {
  queries_.run(
      [prefix, most, ring](verbs::QueryContext& query) {
        http::HttpResponse response;
        response.body = ring_json(prefix, verbs::read_ring(query, prefix, most, ring->turn));
        return response;
      },
      [alive = std::weak_ptr<bool>(alive_), ring](http::HttpResponse response) {
        if (!alive.expired()) ring->shared.finish(std::move(response));
      },
      trusted);
}

}  // namespace w8y::api

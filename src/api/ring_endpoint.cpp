#include "api/ring_endpoint.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/endpoints.hpp"
#include "api/query_json.hpp"

namespace w8y::api {

namespace {

/// Number of lists whose rotation and response are kept.
constexpr std::size_t max_rings = 16;
/// Factor by which the pause after a query is longer than the query, so that queries use at most
/// 1/20 of the time of Redis and w8yd. The pause is at least `min_pause`.
constexpr int pause_factor = 20;
constexpr Duration min_pause = std::chrono::milliseconds(900);

std::size_t max_of(const http::HttpRequest& request, std::string& error) {
  const auto found = request.query.find("most");
  if (found == request.query.end()) return verbs::max_in_ring;
  std::size_t most = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [at, failed] = std::from_chars(found->second.data(), end, most);
  if (failed != std::errc{} || at != end || most < 1 || most > verbs::max_in_ring)
    error = "?most= must be a number from 1 to " + std::to_string(verbs::max_in_ring);
  return most;
}

}  // namespace

void RingEndpoint::add_to(http::Router& router) {
  router.on(endpoints::ring, [this](const http::HttpRequest& request,
                                    const http::HttpReplyPtr& reply) { query(request, reply); });
}

void RingEndpoint::query(const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
  std::string error;
  const std::size_t most = max_of(request, error);
  if (!error.empty()) return reply->send(http::error_response(400, error));
  const std::string& prefix = request.path[3];
  forget_old();
  RingPtr& ring = rings_[std::to_string(most) + ":" + prefix];
  if (!ring) ring = std::make_shared<Ring>();
  if (!ring->out && loop_.now() < ring->good_until) return reply->send(ring->response);
  ring->waiting.push_back(reply);
  if (!ring->out) read(prefix, most, ring, reply->trusted());
}

void RingEndpoint::forget_old() {
  if (rings_.size() < max_rings) return;
  const auto oldest = std::min_element(
      rings_.begin(), rings_.end(),
      [](const auto& a, const auto& b) { return a.second->requested < b.second->requested; });
  if (!oldest->second->out) rings_.erase(oldest);
}

void RingEndpoint::read(const std::string& prefix, std::size_t most, const RingPtr& ring,
                        bool trusted) {
  ring->out = true;
  ring->requested = loop_.now();
  queries_.run(
      [prefix, most, ring](verbs::QueryContext& query) {
        http::HttpResponse response;
        response.body = ring_json(prefix, verbs::read_ring(query, prefix, most, ring->turn));
        return response;
      },
      [this, alive = std::weak_ptr<bool>(alive_), ring](http::HttpResponse answer) {
        if (!alive.expired()) handle_response(ring, std::move(answer));
      },
      trusted);
}

void RingEndpoint::handle_response(const RingPtr& ring, http::HttpResponse answer) {
  const Duration took = loop_.now() - ring->requested;
  const Duration pause = std::max(min_pause, took * pause_factor);
  if (answer.status == 200) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(pause).count();
    answer.body += ",\"max_age_ms\":" + std::to_string(ms) + "}\n";
  }
  ring->out = false;
  ring->good_until = loop_.now() + (answer.status == 200 ? pause : Duration{0});
  ring->response = std::move(answer);
  for (const auto& reply : std::exchange(ring->waiting, {})) reply->send(ring->response);
}

}  // namespace w8y::api

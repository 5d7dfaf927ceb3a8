#include "api/producer_write.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "api/parameters.hpp"
#include "api/query_at.hpp"
#include "api/responses.hpp"
#include "core/json_object.hpp"
#include "operator/feed_access.hpp"

namespace w8y::api {

namespace {

constexpr std::size_t max_key = 255;
constexpr unsigned not_found = 404;
constexpr unsigned unprocessable = 422;
constexpr unsigned unavailable = 503;
constexpr const char* retry_after_s = "1";

void check_key(const std::string& key) {
  const bool is_visible =
      std::all_of(key.begin(), key.end(), [](char c) { return c >= '!' && c <= '~'; });
  if (is_visible && key.size() <= max_key) return;
  throw verbs::QueryError(bad_request, "Idempotency-Key has 1 to " + std::to_string(max_key) +
                                           " visible characters of ASCII");
}

}  // namespace

http::HttpResponse with_retry(http::HttpResponse response, bool in_doubt) {
  if (response.status != unavailable) return response;
  response.headers.emplace_back("Retry-After", retry_after_s);
  if (!in_doubt) return response;
  core::AsciiObject json;
  json.put("error", error_in(response));
  json.put("applied", "unknown");
  response.body = json.finish() + "\n";
  return response;
}

http::HttpResponse feed_response(const std::function<std::string()>& read) {
  try {
    return json_response(200, read());
  } catch (const verbs::FeedMissing& missing) {
    return http::error_response(not_found, missing.what());
  } catch (const verbs::FeedRefused& refusal) {
    return http::error_response(conflict, refusal.what());
  }
}

verbs::RequestOnce once(const http::HttpRequest& request) {
  verbs::RequestOnce request_once;
  request_once.key = request.idempotency_key;
  request_once.content = {request.method};
  request_once.content.insert(request_once.content.end(), request.path.begin(), request.path.end());
  request_once.content.emplace_back(request.body);
  return request_once;
}

void check_once(const store::RecordedReply& reply) {
  if (reply.state == store::RecordedReply::State::other)
    throw verbs::QueryError(unprocessable,
                            "another request was sent with this Idempotency-Key; send a new key");
}

void write_at(const Routes& routes, const http::Endpoint& endpoint, Change change) {
  routes.router.on(
      endpoint, refusing([routes, change = std::move(change)](const http::HttpRequest& request,
                                                              const http::HttpReplyPtr& reply) {
        refuse_in_conflict(routes);
        check_key(request.idempotency_key);
        std::string by = by_of(request, routes);
        reply->set_last_response(
            with_retry(http::error_response(unavailable, "w8yd is shutting down"), true));
        const auto in_doubt = std::make_shared<std::atomic<bool>>(false);
        routes.queries.run(
            [change, in_doubt, by = std::move(by),
             kept =
                 std::make_shared<const http::HttpRequest>(request)](verbs::QueryContext& query) {
              query.in_doubt = in_doubt.get();
              query.by = by;
              return feed_response([&] { return change(query, *kept); });
            },
            [reply, in_doubt](http::HttpResponse response) {
              reply->send(with_retry(std::move(response), *in_doubt));
            },
            reply->trusted());
      }));
}

}  // namespace w8y::api

// Response that all clients of an endpoint share.
#pragma once

#include <vector>

#include "http/http.hpp"
#include "loop/loop.hpp"

namespace w8y::api {

/// Response of an expensive query. Only one query is in flight, for all clients. Its response is
/// valid for a pause that depends on the cost of the query, so that any number of clients costs no
/// more than one.
class SharedResponse {
 public:
  /// Factor by which the pause after a query is longer than the query, so that queries use at most
  /// 1/20 of the time of Redis and w8yd. The pause is at least `min_pause`.
  static constexpr int pause_factor = 20;
  static constexpr Duration min_pause = std::chrono::milliseconds(900);

  explicit SharedResponse(loop::Loop& loop) : loop_(loop) {}

  /// Sends the response to a client: at once if it is valid, otherwise from finish(). Returns
  /// whether the caller must start a query.
  [[nodiscard]] bool send_to(const http::HttpReplyPtr& reply);
  /// Ends the query and sends its response. With status 200, the body is a JSON object without its
  /// last brace, to which this function adds `max_age_ms`. Any other response is not kept.
  void finish(http::HttpResponse response);

  /// Whether a query is in flight.
  [[nodiscard]] bool busy() const { return busy_; }
  /// Time at which the last query started.
  [[nodiscard]] Instant started() const { return started_; }

 private:
  loop::Loop& loop_;
  http::HttpResponse response_;
  Instant valid_until_{};
  Instant started_{};
  bool busy_ = false;
  std::vector<http::HttpReplyPtr> waiting_;
};

}  // namespace w8y::api

#include "api/shared_response.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace w8y::api {

bool SharedResponse::send_to(const http::HttpReplyPtr& reply) {
  if (!busy_ && loop_.now() < valid_until_) {
    reply->send(response_);
    return false;
  }
  waiting_.push_back(reply);
  if (busy_) return false;
  busy_ = true;
  started_ = loop_.now();
  return true;
}

void SharedResponse::finish(http::HttpResponse response) {
  const bool good = response.status == 200;
  const Duration pause = std::max(min_pause, (loop_.now() - started_) * pause_factor);
  if (good) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(pause).count();
    response.body += ",\"max_age_ms\":" + std::to_string(ms) + "}\n";
  }
  busy_ = false;
  valid_until_ = loop_.now() + (good ? pause : Duration{0});
  response_ = std::move(response);
  for (const auto& reply : std::exchange(waiting_, {})) reply->send(response_);
}

}  // namespace w8y::api

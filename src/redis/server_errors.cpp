#include "redis/server_errors.hpp"

#include <utility>

#include "loop/loop.hpp"

namespace w8y::redis {

ServerErrors::ServerErrors(loop::Loop& loop, Handler handler)
    : loop_(loop), handler_(std::move(handler)), timer_(loop.timers()) {}

void ServerErrors::record(const Reply& reply) {
  if (!reply.is_error()) {
    accepted_ = accepted_ || !why_.empty();
    return;
  }
  const ErrorCode code = error_code(reply.text());
  // Redirections of a cluster are not errors of the server.
  const bool redirected =
      code == ErrorCode::moved || code == ErrorCode::ask || code == ErrorCode::tryagain;
  if (!is_about_server(code) || redirected) return;
  last_ = loop_.now();
  accepted_ = false;
  if (!why_.empty()) return;
  why_ = reply.text();
  timer_.set(last_ + calm, [this] { check(); });
  handler_.begin(why_);
}

void ServerErrors::check() {
  const Instant now = loop_.now();
  if (accepted_ && now >= last_ + calm) {
    why_.clear();
    return handler_.end();
  }
  timer_.set(std::max(last_, now - calm / 2) + calm, [this] { check(); });
}

void ServerErrors::reset() {
  timer_.cancel();
  why_.clear();
}

}  // namespace w8y::redis

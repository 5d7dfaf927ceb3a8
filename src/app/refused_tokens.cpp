#include "app/refused_tokens.hpp"

#include <utility>

#include "http/target.hpp"

namespace w8y::app {

namespace {

constexpr std::size_t max_path = 255;

}  // namespace

void RefusedTokens::add(const http::HttpRequest& request) {
  ++refusals_;
  client_ = request.client;
  request_ = request.method + ' ' + http::make_path(request.path).substr(0, max_path);
  if (!timer_.pending()) flush();
}

void RefusedTokens::flush() {
  if (refusals_ == 0) return;
  log_.warn(
      "token of the status API refused",
      {{"client", client_}, {"request", request_}, {"refusals", std::exchange(refusals_, 0)}});
  timer_.set(clock_.now() + interval, [this] { flush(); });
}

}  // namespace w8y::app

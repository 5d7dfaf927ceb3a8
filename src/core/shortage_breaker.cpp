#include "core/shortage_breaker.hpp"

#include <algorithm>

namespace w8y {

bool ShortageBreaker::begin(const std::string& reason) {
  if (!error_) error_ = std::make_unique<Episode>(*timers_);
  Episode& error = *error_;
  const bool news = state_ == State::none;
  if (news) {
    error.since = clock_->now();
    error.attempts = 0;
    error.pause = min_pause;
  }
  ++error.attempts;
  error.reason = reason;
  if (state_ == State::open) return false;  // one of several runs that were started together
  if (!news) error.pause = std::min(error.pause * 2, max_pause);
  state_ = State::open;
  error.timer.set(clock_->now() + error.pause, [this] {
    state_ = State::half_open;
    owner_->may_try();
  });
  return news;
}

void ShortageBreaker::tried() {
  if (state_ == State::half_open) state_ = State::testing;
}

void ShortageBreaker::started() {
  if (state_ != State::half_open && state_ != State::testing) return;
  state_ = State::closing;
  error_->timer.set(clock_->now() + calm, [this] {
    state_ = State::none;
    owner_->shortage_over();
  });
}

void ShortageBreaker::untold() {
  if (state_ == State::testing) state_ = State::half_open;
}

std::size_t ShortageBreaker::room(std::size_t room) const {
  switch (state_) {
    case State::open:
    case State::testing:
      return 0;
    case State::half_open:
      return std::min<std::size_t>(room, 1);
    case State::none:
    case State::closing:
      break;
  }
  return room;
}

}  // namespace w8y

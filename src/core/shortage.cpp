#include <algorithm>
#include <utility>

#include <w8y/shortage.hpp>

namespace w8y {

Shortage::Shortage(const Clock& clock, TimerQueue& timers, std::function<void()> may_try,
                   std::function<void()> over)
    : clock_(clock), may_try_(std::move(may_try)), over_(std::move(over)), timer_(timers) {}

bool Shortage::begin(const std::string& reason) {
  const bool news = state_ == State::none;
  if (news) {
    since_ = clock_.now();
    attempts_ = 0;
    pause_ = shortest_pause;
  }
  ++attempts_;
  reason_ = reason;
  if (state_ == State::waiting) return false;  // of those that were begun together
  if (!news) pause_ = std::min(pause_ * 2, longest_pause);
  state_ = State::waiting;
  timer_.set(clock_.now() + pause_, [this] {
    state_ = State::trying;
    may_try_();
  });
  return news;
}

void Shortage::tried() {
  if (state_ == State::trying) state_ = State::watching;
}

void Shortage::started() {
  if (state_ != State::trying && state_ != State::watching) return;
  state_ = State::easing;
  timer_.set(clock_.now() + calm, [this] {
    state_ = State::none;
    over_();
  });
}

void Shortage::untold() {
  if (state_ == State::watching) state_ = State::trying;
}

std::size_t Shortage::room(std::size_t room) const {
  switch (state_) {
    case State::waiting:
    case State::watching:
      return 0;
    case State::trying:
      return std::min<std::size_t>(room, 1);
    case State::none:
    case State::easing:
      break;
  }
  return room;
}

}  // namespace w8y

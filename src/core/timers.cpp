#include "core/timers.hpp"

namespace w8y {

TimerQueue::Timers::value_type* TimerQueue::set(Instant at, Callback callback, Timer* timer) {
  const Key key{at, ++sequence_};
  const auto entry = timers_.emplace(key, Entry{std::move(callback), timer}).first;
  return &*entry;
}

std::size_t TimerQueue::run_due(Instant now) {
  const std::uint64_t last = sequence_;
  std::size_t ran = 0;
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
    if (it->first.second > last) {
      ++it;
      continue;
    }
    // The callback may set the timer again or destroy it.
    const Callback callback = std::move(it->second.callback);
    if (it->second.timer != nullptr) it->second.timer->entry_ = nullptr;
    timers_.erase(it);
    ++ran;
    callback();
    it = timers_.begin();  // the callback may have changed any entry
  }
  return ran;
}

std::optional<Instant> TimerQueue::next() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

void Timer::set(Instant at, TimerQueue::Callback callback) {
  cancel();
  entry_ = queue_->set(at, std::move(callback), this);
}

void Timer::cancel() {
  if (entry_ != nullptr) queue_->timers_.erase(TimerQueue::Key(entry_->first));
  entry_ = nullptr;
}

std::optional<Instant> Timer::deadline() const {
  if (entry_ == nullptr) return std::nullopt;
  return entry_->first.first;
}

}  // namespace w8y

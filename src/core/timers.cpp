#include <vector>

#include <w8y/timers.hpp>

namespace w8y {

TimerQueue::Key TimerQueue::set(Instant at, Callback callback) {
  const Key key{at, ++sequence_};
  const bool first = timers_.empty() || key < timers_.begin()->first;
  timers_.emplace(key, std::move(callback));
  if (first && on_change) on_change();
  return key;
}

void TimerQueue::cancel(const Key& key) {
  timers_.erase(key);  // an earlier wake-up than needed costs less than telling the driver
}

std::size_t TimerQueue::run_due(Instant now) {
  const std::uint64_t last = sequence_;
  std::size_t ran = 0;
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
    if (it->first.second > last) {
      ++it;
      continue;
    }
    const Callback callback = std::move(it->second);
    timers_.erase(it);
    ++ran;
    callback();
    it = timers_.begin();  // the callback may have changed anything
  }
  return ran;
}

std::optional<Instant> TimerQueue::next() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

void Timer::set(Instant at, TimerQueue::Callback callback) {
  cancel();
  key_ = queue_->set(at, [this, callback = std::move(callback)] {
    key_.reset();
    const TimerQueue::Callback run = callback;  // the timer may be set again, or destroyed, in it
    run();
  });
}

void Timer::cancel() {
  if (key_) queue_->cancel(*key_);
  key_.reset();
}

std::optional<Instant> Timer::deadline() const {
  if (!key_) return std::nullopt;
  return key_->first;
}

}  // namespace w8y

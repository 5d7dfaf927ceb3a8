// Deadlines without an event loop: whoever drives the queue decides what "now" is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/clock.hpp"

namespace w8y {

class Timer;

/// A queue of callbacks by deadline. One loop timer (or a test) drives it: `run_due(now)` runs what
/// is due, `next()` says when to come again. Deadlines that are equal run in the order they were
/// set. A callback may set and cancel timers, its own too.
class TimerQueue {
 public:
  using Callback = std::function<void()>;

  /// One that nobody owns: it can't be cancelled.
  void set(Instant at, Callback callback) { set(at, std::move(callback), nullptr); }
  /// Runs every callback due at `now`; returns how many. Timers set by callbacks run at the next
  /// call, so that a callback which sets itself again can't hold the loop.
  std::size_t run_due(Instant now);
  [[nodiscard]] std::optional<Instant> next() const;
  [[nodiscard]] std::size_t size() const { return timers_.size(); }

 private:
  friend class Timer;
  using Key = std::pair<Instant, std::uint64_t>;
  struct Entry {
    Callback callback;
    Timer* timer;  ///< nullptr: nobody owns it
  };
  using Timers = std::map<Key, Entry>;

  Timers::value_type* set(Instant at, Callback callback, Timer* timer);

  Timers timers_;
  std::uint64_t sequence_ = 0;
};

/// One deadline, owned: destroying it cancels it. Setting it again replaces the deadline. Two words
/// as long as it is not set: lists at rest have many of them.
class Timer {
 public:
  explicit Timer(TimerQueue& queue) : queue_(&queue) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(Instant at, TimerQueue::Callback callback);
  void cancel();
  [[nodiscard]] bool pending() const { return entry_ != nullptr; }
  [[nodiscard]] std::optional<Instant> deadline() const;

 private:
  friend class TimerQueue;

  TimerQueue* queue_;
  TimerQueue::Timers::value_type* entry_ = nullptr;  ///< stays where it is while it is in the queue
};

}  // namespace w8y

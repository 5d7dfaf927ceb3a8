// Timers without an event loop: the caller determines the current time.
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

/// Queue of callbacks by deadline. One timer of the loop (or a test) drives it: `run_due(now)` runs
/// due callbacks, `next()` returns the next deadline. Callbacks with equal deadlines run in the
/// order in which they were set. A callback may set and cancel timers, including its own.
class TimerQueue {
 public:
  using Callback = std::function<void()>;

  /// Adds a callback without an owner: it cannot be cancelled.
  void set(Instant at, Callback callback) { set(at, std::move(callback), nullptr); }
  /// Runs every callback due at `now`, and returns their number. Timers set by callbacks run at the
  /// next call, so that a callback that sets its own timer again cannot block the loop.
  std::size_t run_due(Instant now);
  [[nodiscard]] std::optional<Instant> next() const;
  [[nodiscard]] std::size_t size() const { return timers_.size(); }

 private:
  friend class Timer;
  using Key = std::pair<Instant, std::uint64_t>;
  struct Entry {
    Callback callback;
    Timer* timer;  ///< nullptr = no owner
  };
  using Timers = std::map<Key, Entry>;

  Timers::value_type* set(Instant at, Callback callback, Timer* timer);

  Timers timers_;
  std::uint64_t sequence_ = 0;
};

/// Deadline with an owner: destroying it cancels it. Setting it again replaces the deadline. A
/// timer that is not set needs only the memory of two pointers, because idle lists have many
/// timers.
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
  TimerQueue::Timers::value_type* entry_ = nullptr;  ///< stable; nullptr if not set
};

}  // namespace w8y

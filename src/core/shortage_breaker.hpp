// Breaker of a list for shortages of its host: too few descriptors, processes, memory, or too
// little space for a temporary directory. Items are not the cause, so the list waits instead of
// failing its items, and retries periodically.
//
// - `none` – no shortage.
// - `open` – a run could not be started; claims nothing until the pause ends.
// - `half_open` – may claim one item as a test.
// - `testing` – the test is in flight.
// - `closing` – the test has started; claims up to its limit; ends after a time without further
//   failures.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "core/timers.hpp"

namespace w8y {

class ShortageBreaker {
 public:
  enum class State { none, open, half_open, testing, closing };

  /// Pauses double from the minimum to the maximum.
  static constexpr Duration min_pause = std::chrono::milliseconds(250);
  static constexpr Duration max_pause = std::chrono::seconds(5);
  /// A host at its limit can start a run whenever another one ends: the shortage ends only after
  /// this time.
  static constexpr Duration calm = std::chrono::seconds(5);

  class Owner {
   public:
    virtual ~Owner() = default;
    /// Called when a pause ends.
    virtual void may_try() = 0;
    /// Called when the shortage ends.
    virtual void shortage_over() = 0;
  };

  ShortageBreaker(const Clock& clock, TimerQueue& timers, Owner& owner)
      : clock_(&clock), timers_(&timers), owner_(&owner) {}
  /// The breaker of an idle list: no shortage, and none can start.
  ShortageBreaker() = default;

  /// Called when a run could not be started. Returns true if a shortage starts.
  bool begin(const std::string& reason);
  /// Called when a run is being started. If the state is `half_open`, this run is the test.
  void tried();
  /// Called when a run has started.
  void started();
  /// Called when the test failed for a reason of its own: another item becomes the test.
  void untold();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool any() const { return state_ != State::none; }
  /// Returns true if there was no shortage since construction.
  [[nodiscard]] bool unused() const { return error_ == nullptr; }
  /// Returns the number of items that may be claimed now; at most `room`.
  [[nodiscard]] std::size_t room(std::size_t room) const;
  [[nodiscard]] bool holds() const { return room(1) == 0; }
  // Data of the current or the last shortage.
  [[nodiscard]] std::string reason() const { return error_ ? error_->reason : std::string(); }
  [[nodiscard]] std::size_t attempts() const {  ///< number of runs not started
    return error_ ? error_->attempts : 0;
  }
  [[nodiscard]] Duration lasted() const {
    return error_ ? clock_->now() - error_->since : Duration{0};
  }

 private:
  /// Created for the first shortage: most lists never have one.
  struct Episode {
    explicit Episode(TimerQueue& timers) : timer(timers) {}
    Duration pause = min_pause;
    Instant since{};
    std::string reason;
    std::size_t attempts = 0;
    Timer timer;
  };

  const Clock* clock_ = nullptr;
  TimerQueue* timers_ = nullptr;
  Owner* owner_ = nullptr;
  State state_ = State::none;
  std::unique_ptr<Episode> error_;
};

}  // namespace w8y

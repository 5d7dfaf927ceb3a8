// What a list does while its host can't start processes: too few descriptors, processes, memory,
// room for a temporary folder. No item is to blame for that, so the list waits instead of failing
// its items, and tries again by itself.
//
//   none      nothing is wrong
//   waiting   a run could not be started: takes nothing until the pause is over
//   trying    may take one item, to see
//   watching  has taken it, and has not heard yet what came of it
//   easing    that one has started: takes all it may; over when nothing more went wrong for a while
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "core/timers.hpp"

namespace w8y {

class ShortageBreaker {
 public:
  enum class State { none, waiting, trying, watching, easing };

  /// Pauses grow from the first to the second, by two.
  static constexpr Duration min_pause = std::chrono::milliseconds(250);
  static constexpr Duration max_pause = std::chrono::seconds(5);
  /// A host at its limit starts a run whenever one ends: that is not the end of the trouble.
  static constexpr Duration calm = std::chrono::seconds(5);

  class Owner {
   public:
    virtual ~Owner() = default;
    /// A pause is over.
    virtual void may_try() = 0;
    /// The trouble is.
    virtual void shortage_over() = 0;
  };

  ShortageBreaker(const Clock& clock, TimerQueue& timers, Owner& owner)
      : clock_(&clock), timers_(&timers), owner_(&owner) {}
  /// That of a list at rest: nothing is wrong, and nothing begins.
  ShortageBreaker() = default;

  /// A run could not be started. True: that is news.
  bool begin(const std::string& reason);
  /// The one item of trying is on its way.
  void tried();
  /// A run has started.
  void started();
  /// That item could not be run for a reason of its own: another is to tell.
  void untold();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool any() const { return state_ != State::none; }
  /// There was none since it was made.
  [[nodiscard]] bool unused() const { return error_ == nullptr; }
  /// How much of `room` may be taken now.
  [[nodiscard]] std::size_t room(std::size_t room) const;
  [[nodiscard]] bool holds() const { return room(1) == 0; }
  // Of the trouble that there is, or of the last one.
  [[nodiscard]] std::string reason() const { return error_ ? error_->reason : std::string(); }
  [[nodiscard]] std::size_t attempts() const {  ///< runs not started
    return error_ ? error_->attempts : 0;
  }
  [[nodiscard]] Duration lasted() const {
    return error_ ? clock_->now() - error_->since : Duration{0};
  }

 private:
  /// Made at the first one: most lists never have any.
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

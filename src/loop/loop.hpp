// The event loop of a program: descriptors, the clock, the timers, and what runs once per turn.
#pragma once

#include <functional>
#include <list>
#include <memory>

#include "core/clock.hpp"
#include "core/histogram.hpp"
#include "core/timers.hpp"
#include "loop/embedded_uv_loop.hpp"
#include "loop/poll_set.hpp"
#include "loop/watch.hpp"

namespace w8y::loop {

class SystemClock : public Clock {
 public:
  [[nodiscard]] Instant now() const override;  ///< CLOCK_BOOTTIME, read each time
  [[nodiscard]] WallTime wall() const override;
};

/// Outlives everything that uses it. One thread. Timers have microsecond deadlines on the clock's
/// own time: a timerfd on CLOCK_BOOTTIME wakes the loop, so a deadline that passed while the
/// machine slept is handled as soon as it wakes. A timer for now() runs later in the same turn,
/// before the loop waits, and costs no system call.
class Loop {
 public:
  Loop();
  /// On another clock. It knows nothing of run() and iterate(): whoever has the clock calls step().
  explicit Loop(const Clock& clock);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Until stop(), or until nothing is left that could wake it.
  void run();
  /// One turn: waits for at least one event if `wait`. A timer that was due is one.
  void iterate(bool wait);
  /// Ends run() after the turn it is in.
  void stop();
  /// What a turn does besides waiting for descriptors: timers that are due, and what runs once per
  /// turn.
  void step();

  /// For what is about to be begun on it. Made with the first question: a program that needs no
  /// libuv starts without it. Its own timers are not looked at; timers() are for that.
  [[nodiscard]] uv_loop_t* uv();
  [[nodiscard]] PollSet& polls() { return polls_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Instant now() const { return clock_.now(); }
  [[nodiscard]] TimerQueue& timers() { return timers_; }
  /// How late timers were that the loop had to wait for.
  [[nodiscard]] const CallTimes& lag() const { return lag_; }

  /// Called once per turn, just before the loop waits: where what a turn has gathered is written.
  /// Registered while it lives.
  class BeforeWait {
   public:
    BeforeWait(Loop& loop, std::function<void()> callback);
    ~BeforeWait();
    BeforeWait(const BeforeWait&) = delete;
    BeforeWait& operator=(const BeforeWait&) = delete;

   private:
    friend class Loop;
    Loop& loop_;
    std::function<void()> callback_;
    std::list<BeforeWait*>::iterator place_;
  };

 private:
  void go_round(bool wait) noexcept;
  [[nodiscard]] bool alive();
  void on_timer() noexcept;
  void arm();

  const Clock& clock_;
  TimerQueue timers_;
  int timer_fd_ = -1;
  PollSet polls_;
  std::unique_ptr<EmbeddedUvLoop> uv_;
  std::unique_ptr<Watch> timer_watch_;
  std::optional<Instant> armed_;
  bool in_turn_ = false;    ///< of iterate(), which may have what it is waited for already
  bool timer_ran_ = false;  ///< in this round
  bool stopped_ = false;
  CallTimes lag_;
  std::list<BeforeWait*> before_wait_;
  std::list<BeforeWait*>::iterator walking_;
};

}  // namespace w8y::loop

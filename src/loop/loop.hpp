// The event loop of a program: descriptors, the clock, the timers, and hooks that run once per loop
// iteration.
#pragma once

#include <functional>
#include <list>
#include <memory>

#include "core/clock.hpp"
#include "core/fd.hpp"
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

/// Event loop. It outlives everything that uses it, and belongs to one thread. Timers have
/// microsecond deadlines on its clock: a timerfd on CLOCK_BOOTTIME wakes the loop, so a deadline
/// that passes while the machine is suspended is handled when the machine resumes. A timer for
/// now() runs later in the same loop iteration, before the loop waits, and costs no system call.
class Loop {
 public:
  Loop();
  /// Creates a loop on another clock. The owner of that clock calls step() instead of run() and
  /// iterate().
  explicit Loop(const Clock& clock);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs until stop(), or until nothing is left that could wake the loop.
  void run();
  /// Runs one loop iteration. With `wait`, it waits for at least one event; a timer that was due
  /// counts as one.
  void iterate(bool wait);
  /// Ends run() after the current loop iteration.
  void stop();
  /// Does the work of one loop iteration apart from waiting for descriptors: due timers and hooks.
  void step();

  /// The embedded loop of libuv, for starting a request. Created by the first call, so that a
  /// program that needs no libuv starts without it. Timers of libuv are not supported; use
  /// timers().
  [[nodiscard]] uv_loop_t* uv();
  [[nodiscard]] PollSet& polls() { return polls_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Instant now() const { return clock_.now(); }
  [[nodiscard]] TimerQueue& timers() { return timers_; }
  /// How late the loop was for timers that it waited for.
  [[nodiscard]] const CallTimes& lag() const { return lag_; }

  /// Hook that is called once per loop iteration, just before the loop waits, to write the output
  /// collected in the iteration. Registered while the object exists.
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
  void iterate_once(bool wait) noexcept;
  [[nodiscard]] bool alive();
  void on_timer() noexcept;
  void arm();

  const Clock& clock_;
  TimerQueue timers_;
  Fd timer_fd_;
  PollSet polls_;
  std::unique_ptr<EmbeddedUvLoop> uv_;
  std::unique_ptr<Watch> timer_watch_;
  std::optional<Instant> armed_;
  bool in_turn_ = false;  ///< in iterate(); its caller may already have the event that it waits for
  bool timer_ran_ = false;  ///< in this loop iteration
  bool stopped_ = false;
  CallTimes lag_;
  std::list<BeforeWait*> before_wait_;
  std::list<BeforeWait*>::iterator walking_;
};

}  // namespace w8y::loop

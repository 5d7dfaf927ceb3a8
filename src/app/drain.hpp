// The end of w8yd.
//
//   working   it has not been ordered
//   draining  nothing new begins, and what runs has `drain_timeout`; a second order asks all runs
//   to
//             end by SIGTERM, a third one kills them
//   leaving   no runs are left; stream processes that had none are exiting, and have `kill_grace`;
//             another order kills them
//   ending    what runs left behind is killed, and the host's own Redis ends
//   over      the loop ends
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/events.hpp"

namespace w8y::app {

enum class DrainState { not_started, draining, stopping_streams, cleaning_up, done };

/// What a drain does, and to what. Each `then` is called once, from the loop.
class DrainSteps {
 public:
  virtual ~DrainSteps() = default;
  [[nodiscard]] virtual std::size_t running() const = 0;
  /// Once: no other config, no orders to pause.
  virtual void start_drain() = 0;
  /// With each order, as Supervisor::drain(): `then` counts the first time.
  virtual void drain_lists(std::function<void()> then) = 0;
  virtual void when_no_streams(std::function<void()> then) = 0;
  virtual void kill_streams() = 0;
  virtual void kill_orphans() = 0;
  /// At once too, if there is none.
  virtual void end_redis(std::function<void()> then) = 0;
  virtual void end_loop() = 0;
};

class Drain {
 public:
  Drain(DrainSteps& steps, EventHandler& events) : steps_(steps), events_(events) {}

  /// `why`: the signal, or "an order".
  void order(const std::string& why);
  [[nodiscard]] DrainState state() const { return state_; }
  [[nodiscard]] bool started() const { return state_ != DrainState::not_started; }

 private:
  void set_state(DrainState state) { state_ = state; }
  void tell(const std::string& why);
  void drained();
  void streams_gone();

  DrainSteps& steps_;
  EventHandler& events_;
  DrainState state_ = DrainState::not_started;
  unsigned orders_ = 0;
};

}  // namespace w8y::app

// End of w8yd. States:
//
//   not_started       no drain was requested
//   draining          no run starts, and active runs have `drain_timeout`; a second request
//                     stops all runs by SIGTERM, a third one kills them
//   stopping_streams  no runs are left; idle stream processes exit within `kill_grace`; another
//                     request kills them
//   cleaning_up       orphan processes are killed, and the embedded Redis ends
//   done              the loop ends
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/events.hpp"

namespace w8y::app {

enum class DrainState { not_started, draining, stopping_streams, cleaning_up, done };

/// Actions of a drain. Each `then` is called once, from the loop.
class DrainSteps {
 public:
  virtual ~DrainSteps() = default;
  [[nodiscard]] virtual std::size_t running() const = 0;
  /// Called once. Prevents reloads and changes of the quiet state.
  virtual void start_drain() = 0;
  /// Called with each request, as Supervisor::drain(). Only the first `then` counts.
  virtual void drain_lists(std::function<void()> then) = 0;
  virtual void when_no_streams(std::function<void()> then) = 0;
  virtual void kill_streams() = 0;
  virtual void kill_orphans() = 0;
  /// Calls `then` at once if there is no embedded Redis.
  virtual void end_redis(std::function<void()> then) = 0;
  virtual void end_loop() = 0;
};

class Drain {
 public:
  Drain(DrainSteps& steps, EventHandler& events) : steps_(steps), events_(events) {}

  /// Requests a drain. `why`: the signal, or "a command".
  void order(const std::string& why);
  [[nodiscard]] DrainState state() const { return state_; }
  [[nodiscard]] bool started() const { return state_ != DrainState::not_started; }

 private:
  void set_state(DrainState state) { state_ = state; }
  void report(const std::string& why);
  void drained();
  void streams_gone();

  DrainSteps& steps_;
  EventHandler& events_;
  DrainState state_ = DrainState::not_started;
  unsigned orders_ = 0;
};

}  // namespace w8y::app

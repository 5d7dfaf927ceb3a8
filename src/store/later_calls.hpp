// Calls of a handler that wait for the event loop.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"

namespace w8y::store {

/// Makes calls from the event loop, in the order in which they were added. For calls of a handler
/// that may itself be on the stack.
class LaterCalls {
 public:
  LaterCalls(const Clock& clock, TimerQueue& timers) : clock_(clock), timer_(timers) {}

  void add(std::function<void()> call) {
    calls_.push_back(std::move(call));
    if (timer_.pending()) return;
    timer_.set(clock_.now(), [this] {
      for (const auto& each : std::exchange(calls_, {})) each();
    });
  }
  [[nodiscard]] bool empty() const { return calls_.empty(); }

 private:
  const Clock& clock_;
  std::vector<std::function<void()>> calls_;
  Timer timer_;
};

}  // namespace w8y::store

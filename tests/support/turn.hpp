// Waiting for a fact in a test, with a limit.
#pragma once

#include <chrono>

#include <w8y/timers.hpp>

#include "loop/loop.hpp"

namespace w8y::test {

/// Turns the loop until `fact()`; false if that took longer than the limit.
template <typename Fact>
bool turn_until(loop::Loop& loop, Fact fact, Duration limit = std::chrono::seconds(20)) {
  bool late = false;
  Timer timer(loop.timers());
  timer.set(loop.now() + limit, [&] { late = true; });
  bool true_now = fact();
  while (!true_now && !late) {
    loop.turn(true);
    true_now = fact();
  }
  return true_now;
}

/// Turns the loop for so long: for what must not happen.
inline void turn_for(loop::Loop& loop, Duration time) {
  turn_until(
      loop, [] { return false; }, time);
}

}  // namespace w8y::test

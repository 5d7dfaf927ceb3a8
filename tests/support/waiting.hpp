// Waiting for a condition in a test, with a limit.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/timers.hpp"
#include "loop/loop.hpp"

namespace w8y::test {

/// Time limit for a condition that normally holds within milliseconds. It is long, so that a test
/// does not fail on a slow and busy machine.
constexpr Duration timeout = std::chrono::minutes(1);

/// Runs the loop until `fact()` is true. Returns false after the limit. Checks `fact()` every 5 ms,
/// because a change of the fact may cause no event of the loop.
template <typename Fact>
bool turn_until(loop::Loop& loop, Fact fact, Duration limit = timeout) {
  const Instant end = loop.now() + limit;
  Timer look(loop.timers());
  bool true_now = fact();
  while (!true_now && loop.now() < end) {
    look.set(loop.now() + std::chrono::milliseconds(5), [] {});
    loop.iterate(true);
    true_now = fact();
  }
  return true_now;
}

/// Runs the loop for this time, to test that an event does not happen.
inline void turn_for(loop::Loop& loop, Duration time) {
  turn_until(
      loop, [] { return false; }, time);
}

/// Waits without a loop. Throws after the limit.
template <typename Fact>
void wait_until(const std::string& what, Fact fact) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!fact()) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("waited too long for " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace w8y::test

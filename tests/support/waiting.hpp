// Waiting for a fact in a test, with a limit.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/timers.hpp"
#include "loop/loop.hpp"

namespace w8y::test {

/// For a fact that comes in milliseconds where nothing is wrong: a machine that is slow and busy
/// must not make a test fail.
constexpr Duration timeout = std::chrono::minutes(1);

/// Turns the loop until `fact()`; false if that took longer than the limit. It also looks every few
/// milliseconds: the loop may not be told of the fact.
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

/// Turns the loop for so long: for what must not happen.
inline void turn_for(loop::Loop& loop, Duration time) {
  turn_until(
      loop, [] { return false; }, time);
}

/// Without a loop. Throws after the limit.
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

// The clock types. Time is an argument: no code in core reads a clock by itself.
#pragma once

#include <chrono>

namespace w8y {

using Duration = std::chrono::microseconds;

/// Clock for leases and timers: CLOCK_BOOTTIME. It does not jump when the date is set, and does not
/// stop while the machine is suspended.
struct Monotonic {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Monotonic>;
  static constexpr bool is_steady = true;
};
using Instant = Monotonic::time_point;

/// Unix time in milliseconds, for people and other hosts. Never used for deadlines.
using WallTime = std::chrono::milliseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
};

}  // namespace w8y

// Time as the contracts see it. Time is an argument: nothing in core reads a clock by itself.
#pragma once

#include <chrono>
#include <cstdint>

namespace w8y {

using Duration = std::chrono::microseconds;

/// The clock that leases and timers are counted on: CLOCK_BOOTTIME, which neither jumps when the
/// date is set nor stops while the machine sleeps.
struct Monotonic {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Monotonic>;
  static constexpr bool is_steady = true;
};
using Instant = Monotonic::time_point;

/// Unix time in milliseconds: for what people and other hosts read, never for deadlines.
using WallTime = std::chrono::milliseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
};

}  // namespace w8y

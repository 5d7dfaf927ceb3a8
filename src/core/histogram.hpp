// Histograms of durations with fixed bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"

namespace w8y {

/// Upper bounds in seconds, ascending: for durations from microseconds to seconds, and for
/// durations from 5 ms to 1 hour. Neighbouring bounds differ by a factor of at most 3.
inline constexpr std::array call_bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                           0.05,   0.1,   0.25,   0.5,   1.0,  5.0};
inline constexpr std::array run_bounds = {0.005, 0.01,  0.025, 0.05,  0.1,    0.25,
                                          0.5,   1.0,   2.5,   5.0,   10.0,   30.0,
                                          60.0,  120.0, 300.0, 600.0, 1800.0, 3600.0};

template <const auto& Bounds>
class Histogram {
 public:
  static constexpr std::size_t bounds = Bounds.size();

  void add(Duration took) {
    const double seconds = std::max(0.0, std::chrono::duration<double>(took).count());
    const auto bound = std::lower_bound(Bounds.begin(), Bounds.end(), seconds);
    ++counts_[static_cast<std::size_t>(bound - Bounds.begin())];
    seconds_ += seconds;
  }
  Histogram& operator+=(const Histogram& more) {
    for (std::size_t i = 0; i <= bounds; ++i) counts_[i] += more.counts_[i];
    seconds_ += more.seconds_;
    return *this;
  }

  [[nodiscard]] static constexpr double bound(std::size_t i) { return Bounds[i]; }
  /// Returns the number of values up to bound `i` and above the previous bound. The last count is
  /// of values above all bounds.
  [[nodiscard]] std::uint64_t count(std::size_t i) const { return counts_[i]; }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts_) all += count;
    return all;
  }
  [[nodiscard]] double seconds() const { return seconds_; }  ///< sum of all values

 private:
  std::array<std::uint64_t, Bounds.size() + 1> counts_{};
  double seconds_ = 0;
};

using CallTimes = Histogram<call_bounds>;
using RunTimes = Histogram<run_bounds>;

}  // namespace w8y

// Histogram of durations, for percentiles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"

namespace w8y {

/// Counts durations in bins whose bounds grow by a factor of the fourth root of 2, from 1 ms to
/// more than a day. Only bins with a count use memory: most lists have few. A parsed histogram may
/// have wider bins, each in place of 2, 4 or more of these bins (src/store/lua/series_add.lua).
class DurationBins {
 public:
  /// Index of the bin of durations that are longer than the bounds of all others.
  static constexpr unsigned last_bin = 107;
  /// Largest width of a bin in a text: one bin has all durations.
  static constexpr unsigned max_width = 128;

  /// Returns the bin of a duration. Bin 0: up to 1 ms; bin `i`: up to 2^(i/4) ms.
  static unsigned bin_of(Duration duration);

  void add(Duration duration) { add(bin_of(duration), 1); }
  void add(unsigned bin, std::uint64_t count) { add_at(2 * bin, count); }
  DurationBins& operator+=(const DurationBins& more);

  [[nodiscard]] bool empty() const { return bins_.empty(); }
  [[nodiscard]] std::uint64_t count() const;
  /// Returns the duration that `percent` of the durations do not exceed. nullopt: there are none.
  /// Its error is at most half of the width of the widest bin: a factor of 2^(width/8), and the
  /// rounding to 1 ms.
  [[nodiscard]] std::optional<WallTime> percentile(unsigned percent) const;

  /// Returns "BIN:COUNT,…" with the bins in ascending order; "-" if there are none. No bin may be
  /// wider than those of add().
  [[nodiscard]] std::string text() const;
  /// Parses the output of text(), or "WIDTH/BIN:COUNT,…". Invalid parts of the text are ignored.
  static DurationBins parse(std::string_view text);

  bool operator==(const DurationBins&) const = default;

 private:
  struct Bin {
    unsigned middle = 0;  ///< sum of the indices of its first and its last bin of width 1
    std::uint64_t count = 0;
    bool operator==(const Bin&) const = default;
  };

  void add_at(unsigned middle, std::uint64_t count);

  std::vector<Bin> bins_;  ///< in ascending order
};

}  // namespace w8y

// Statistics of a list's runs on this host, for its metrics.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"
#include "core/histogram.hpp"

namespace w8y {

/// Numbers of lines that children have written.
struct LineCounts {
  struct Of {
    std::uint64_t lines = 0;
    std::uint64_t cut = 0;  ///< lines longer than `max_line`
    Of& operator+=(const Of& more) {
      lines += more.lines;
      cut += more.cut;
      return *this;
    }
  };
  Of output;
  Of errors;

  LineCounts& operator+=(const LineCounts& more) {
    output += more.output;
    errors += more.errors;
    return *this;
  }
};

/// Statistics since the first run of the list after the program's start.
struct RunStats {
  RunTimes runs;
  CallTimes claims;
  /// Claims by result. Index 0 counts claims that returned items; the other indexes are those of
  /// ClaimEnd.
  std::array<std::uint64_t, 9> claim_ends{};
  RunTimes late;  ///< for schedules: time from due to enqueued
  LineCounts lines;
  /// Runs that could not be started: shortage of the host, missing prerequisite, other reasons.
  std::array<std::uint64_t, 3> not_started{};
  WallTime last_success{0};  ///< end of the last run that succeeded; 0 = none

  RunStats& operator+=(const RunStats& more) {
    runs += more.runs;
    claims += more.claims;
    for (std::size_t i = 0; i < claim_ends.size(); ++i) claim_ends[i] += more.claim_ends[i];
    for (std::size_t i = 0; i < not_started.size(); ++i) not_started[i] += more.not_started[i];
    late += more.late;
    lines += more.lines;
    last_success = std::max(last_success, more.last_success);
    return *this;
  }
};

}  // namespace w8y

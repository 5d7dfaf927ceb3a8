// What is measured of a list's runs on this host, for its metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/histogram.hpp"

namespace w8y {

/// Lines that children have written.
struct LineCounts {
  struct Of {
    std::uint64_t lines = 0;
    std::uint64_t cut = 0;  ///< of these: longer than `max_line`
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

/// Since the list's first run after the program's start.
struct RunStats {
  RunTimes runs;
  CallTimes claims;
  /// Claims by what came of them: the first has given items, each other is a ClaimEnd's.
  std::array<std::uint64_t, 8> claim_ends{};
  RunTimes late;  ///< runs of a schedule: since they were due
  LineCounts lines;
  /// Runs that could not be started: the host was short of something, lacks something, or else.
  std::array<std::uint64_t, 3> not_started{};

  RunStats& operator+=(const RunStats& more) {
    runs += more.runs;
    claims += more.claims;
    for (std::size_t i = 0; i < claim_ends.size(); ++i) claim_ends[i] += more.claim_ends[i];
    for (std::size_t i = 0; i < not_started.size(); ++i) not_started[i] += more.not_started[i];
    late += more.late;
    lines += more.lines;
    return *this;
  }
};

}  // namespace w8y

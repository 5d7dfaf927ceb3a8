// Counts of the outcomes of a list's runs.
#pragma once

#include <cstdint>

#include "core/outcome.hpp"

namespace w8y {

/// Counted since the program started. A reload keeps them.
struct RunCounters {
  std::uint64_t claimed = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t crashed = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t lost = 0;
  std::uint64_t bad_lines = 0;    ///< lines of output that were not messages
  std::uint64_t leases_lost = 0;  ///< including those of runs that continued

  ResourceUse used = {};  ///< by processes that have ended; `peak_memory` is the maximum

  RunCounters& operator+=(const RunCounters& more);
};

}  // namespace w8y

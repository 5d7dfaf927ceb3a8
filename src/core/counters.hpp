// What has come of a list's runs.
#pragma once

#include <cstdint>

#include "core/outcome.hpp"

namespace w8y {

/// Since the program started; a reload keeps them.
struct RunCounters {
  std::uint64_t claimed = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t crashed = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t lost = 0;
  std::uint64_t bad_lines = 0;    ///< lines of output that were no message
  std::uint64_t leases_lost = 0;  ///< also those of runs that went on

  ResourceUse used = {};  ///< by processes that have ended; the largest peak of memory

  RunCounters& operator+=(const RunCounters& more);
};

}  // namespace w8y

// Processes that run seeds. Their records arrive in the order of the seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace w8y::sim {

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = 1;
  unsigned jobs = 1;
};

/// Calls `run` for each seed in `jobs` processes, or in this process if `jobs` is 1. Passes each
/// record in order to `take` in this process, until `take` returns false. Throws std::runtime_error
/// if a process ends before its seeds do.
void for_each_seed(const Seeds& seeds, const std::function<std::string(std::uint64_t)>& run,
                   const std::function<bool(std::uint64_t, const std::string&)>& take);

}  // namespace w8y::sim

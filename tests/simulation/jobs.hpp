// Several processes that run seeds; what they say comes in the order of the seeds.
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

/// `run` makes a seed's record, in one of `jobs` processes, or in this one if that is all there
/// are. `take` is told of each, in order and in this process; false: that is enough. Throws
/// std::runtime_error if a process ends before its seeds do.
void for_each_seed(const Seeds& seeds, const std::function<std::string(std::uint64_t)>& run,
                   const std::function<bool(std::uint64_t, const std::string&)>& take);

}  // namespace w8y::sim

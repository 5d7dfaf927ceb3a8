// Resource usage of a process, from /proc.
#pragma once

#include <cstdint>
#include <optional>

namespace w8y::ops {

struct ProcessStats {
  double cpu_seconds = 0;
  double start_seconds = 0;  ///< Unix time
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_descriptors = 0;
  std::uint64_t max_descriptors = 0;
};

/// Statistics of this process. nullopt if /proc cannot be read.
std::optional<ProcessStats> process_stats();

}  // namespace w8y::ops

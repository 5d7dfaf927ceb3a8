// Checks whether the limits of a host suffice for the maximum number of processes of its lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"

namespace w8y {

/// Limits of a host; nullopt = no limit.
struct HostLimits {
  std::optional<std::uint64_t> descriptors;  ///< of this process: hard limit of RLIMIT_NOFILE
  std::optional<std::uint64_t> processes;    ///< of a user: RLIMIT_NPROC
  bool exempt = false;                       ///< `processes` does not apply to this process
  struct Group {
    std::string path;
    std::uint64_t most = 0;  ///< pids.max
  };
  std::optional<Group> group;           ///< the control group of this process with the lowest limit
  std::optional<std::uint64_t> kernel;  ///< kernel.pid_max, kernel.threads-max
};

/// A list that this host serves.
struct ListNeed {
  ListConfigPtr rule;
  bool streams = false;  ///< runs share stream processes; false: each run has a process
};

/// Descriptors of one child, for one run or many: its process, its outputs, its input, its control
/// group.
constexpr std::size_t descriptors_of_process = 6;
/// One more with `memory_max`, for the peak memory.
constexpr std::size_t descriptors_of_limited_process = descriptors_of_process + 1;
/// Descriptors of w8yd itself: the log, Redis, the loop. `descriptors_of_status` adds the clients
/// of a status address.
constexpr std::size_t descriptors_of_host = 64;
constexpr std::size_t descriptors_of_status = 65;

/// Returns one line with numbers for each limit that the lists may reach; empty if all limits
/// suffice.
std::vector<std::string> shortfalls(const std::vector<ListNeed>& lists,
                                    const SupervisorSettings& supervisor, const HostLimits& limits);

}  // namespace w8y

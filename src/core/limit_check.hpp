// Whether the limits of a host suffice for what its lists may run at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"

namespace w8y {

/// What a host allows; nullopt: no limit.
struct HostLimits {
  std::optional<std::uint64_t> descriptors;  ///< of this process: RLIMIT_NOFILE, the hard one
  std::optional<std::uint64_t> processes;    ///< of a user: RLIMIT_NPROC
  bool exempt = false;                       ///< `processes` does not bind this process
  struct Group {
    std::string path;
    std::uint64_t most = 0;  ///< pids.max
  };
  std::optional<Group> group;           ///< the tightest of those that we are in
  std::optional<std::uint64_t> kernel;  ///< kernel.pid_max, kernel.threads-max
};

/// Descriptors of a run while it goes on: its process, its outputs, its input, its control group.
constexpr std::size_t descriptors_of_run = 6;
/// One more where `memory_max` limits the run: the peak of its memory.
constexpr std::size_t descriptors_of_limited_run = descriptors_of_run + 1;
/// Of w8yd itself: the log, Redis, the loop; and the clients of a status address.
constexpr std::size_t descriptors_of_host = 64;
constexpr std::size_t descriptors_of_status = 65;

/// One line for each limit that the lists may reach, with numbers; none if all suffice.
/// `lists`: those that this host serves.
std::vector<std::string> shortfalls(const std::vector<ListConfigPtr>& lists,
                                    const SupervisorSettings& supervisor, const HostLimits& limits);

}  // namespace w8y

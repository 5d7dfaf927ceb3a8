// Files of control groups: the mount point of the hierarchy, reading and writing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::process {

/// Files that show the group of this process; tests have others.
struct CgroupPlace {
  std::string mountinfo = "/proc/self/mountinfo";
  std::string cgroup = "/proc/self/cgroup";
};

/// Returns the directory of this process's group in the unified hierarchy (version 2), which a
/// hybrid host mounts beside version 1. Empty: there is none, and `problem` is the reason.
std::string own_cgroup(const CgroupPlace& place, std::string& problem);
/// As own_cgroup(), in the version 1 hierarchy of a controller. Empty: there is none.
std::string own_cgroup_v1(const CgroupPlace& place, const std::string& controller);

/// Reads a small file; nullopt: errno is the reason.
std::optional<std::string> read_small_file(const std::string& path);
/// Returns a number in such a file: after `name` at the start of a line, or the first number.
std::optional<std::uint64_t> flat_value(std::string_view text, std::string_view name = {});
/// Writes `text` in one call, as these files require. Returns 0 or errno.
int write_small_file(const std::string& path, const std::string& text);

/// Returns the directories in the directory of a group, which are its child groups.
std::vector<std::string> groups_in(const std::string& directory);
/// Counts the processes in a group and in its child groups.
std::size_t count_processes(const std::string& directory);
/// Sends SIGKILL to all processes of a group, including new forks. Returns 0 or errno.
int kill_group(const std::string& directory);
/// Removes a group and its child groups. Waits at most `wait_ms` until their processes have ended.
bool remove_group(const std::string& directory, int wait_ms);

/// Returns the name of a process's group: "w8yd-NAMESPACE-PID-START". It has the inode of the PID
/// namespace and the start time of the process since boot, so that a reused PID is recognized.
std::string group_name_of(pid_t pid);
/// Returns whether the name is from this namespace and its process has ended.
bool is_left_behind(const std::string& name);

}  // namespace w8y::process

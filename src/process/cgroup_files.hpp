// The files of a control group: where the hierarchy is mounted, and reading and writing in it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::process {

/// What says where we are; other files in tests.
struct CgroupPlace {
  std::string mountinfo = "/proc/self/mountinfo";
  std::string cgroup = "/proc/self/cgroup";
};

/// The folder of our own group in the unified hierarchy (version 2), which on a hybrid host is
/// mounted beside those of version 1. Empty: there is none to be seen; then `problem` says why.
std::string own_cgroup(const CgroupPlace& place, std::string& problem);
/// The same in the hierarchy of version 1 that has a controller. Empty: there is none.
std::string own_cgroup_v1(const CgroupPlace& place, const std::string& controller);

/// All of a small file; nullopt: errno says why.
std::optional<std::string> read_small_file(const std::string& path);
/// A number in such a file: the one behind `name` at the beginning of a line, or the first one.
std::optional<std::uint64_t> flat_value(std::string_view text, std::string_view name = {});
/// Writes `text` in one call, as these files want it. 0, or errno.
int write_small_file(const std::string& path, const std::string& text);

/// The folders in a group's folder: the groups in it.
std::vector<std::string> groups_in(const std::string& directory);
/// Processes in a group and in those in it.
std::size_t count_processes(const std::string& directory);
/// SIGKILL to everything in it, also to what is being forked. 0, or errno.
int kill_group(const std::string& directory);
/// Removes a group and those in it, once everything in them has ended; waits for that so long.
bool remove_group(const std::string& directory, int wait_ms);

/// Who made a group: "w8yd-NAMESPACE-PID-START", by the inode of the namespace of process ids and
/// by the start of the process since boot, so that a number that is used again isn't mistaken.
std::string group_name_of(pid_t pid);
/// Whether such a name is one of this namespace, whose process is gone.
bool is_left_behind(const std::string& name);

}  // namespace w8y::process

// Limits of descriptors and processes that apply to this process, and its umask.
#pragma once

#include <sys/resource.h>

#include <optional>

#include "core/limit_check.hpp"
#include "process/cgroup_files.hpp"

namespace w8y::process {

HostLimits host_limits(const CgroupPlace& place = {});

/// Raises the soft limit on descriptors to the hard one, as far as that is useful. Children get the
/// original limit: a program that uses select(2) must not get a descriptor over 1023.
void raise_descriptor_limit();
/// Returns the limit for children; nullopt: that of this process.
std::optional<rlimit> descriptor_limit_of_children();

/// Makes new files of this process writable for it alone. Children get the original umask.
void restrict_umask();
/// Returns the umask for children; nullopt: that of this process.
std::optional<unsigned> umask_of_children();

}  // namespace w8y::process

// The limits of this host as they hold for us, and our own limit on descriptors.
#pragma once

#include <sys/resource.h>

#include <optional>

#include "core/limit_check.hpp"
#include "process/cgroup_files.hpp"

namespace w8y::process {

HostLimits host_limits(const CgroupPlace& place = {});

/// Our soft limit on descriptors becomes the hard one, as far as that makes sense. Children get the
/// one that we had: a program that uses select(2) must not meet a descriptor over 1023.
void raise_descriptor_limit();
/// What children get, if it is not what we have.
std::optional<rlimit> descriptor_limit_of_children();

/// What we make, only we can write; children get the umask that we had.
void restrict_umask();
/// What children get, if it is not what we have.
std::optional<unsigned> umask_of_children();

}  // namespace w8y::process

// Resources that an active process has used, from /proc.
#pragma once

#include <sys/types.h>

#include "core/outcome.hpp"

namespace w8y::process {

/// Returns the CPU time of a process and of its children that have ended, and its peak memory.
/// The values are empty if the process does not exist.
ResourceUse process_use(pid_t pid);

}  // namespace w8y::process

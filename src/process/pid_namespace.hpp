// Detects a PID namespace.
#pragma once

namespace w8y::process {

/// Returns true in a container: its PIDs start at 1, so another container with the same host name
/// can have the same PIDs.
[[nodiscard]] bool in_own_pid_namespace();

}  // namespace w8y::process

// Helper process that starts children for w8yd if a start may block. It holds nothing but the
// current request, and waits for no child.
#pragma once

namespace w8y::process {

/// Argument with which a program is called as its own helper. Its main() checks for it first, and
/// returns the result of run_spawn_helper().
inline constexpr const char* spawn_helper_word = "--spawn-helper";

/// Serves the socket on standard input until the other side closes it. Each child starts as a copy
/// of this process, without shared memory. Its parent is w8yd (CLONE_PARENT), and the kernel kills
/// it if w8yd ends. A child reports a failure on its status pipe. End of file on that pipe means
/// that it has called exec.
int run_spawn_helper();

}  // namespace w8y::process

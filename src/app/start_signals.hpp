// Signals that arrive while w8yd starts.
#pragma once

namespace w8y::app {

/// Unblocks SIGUSR1, SIGUSR2, SIGHUP and SIGCONT, which w8yd blocks before its constructors run
/// (start_signals.cpp). For a w8yd that does not become a daemon.
void unblock_start_signals();

}  // namespace w8y::app

// Signals that arrive while w8yd starts.
#pragma once

namespace w8y::app {

/// Ends the block of SIGUSR1, SIGUSR2, SIGHUP and SIGCONT that w8yd begins before its constructors
/// run (start_signals.cpp). For a w8yd that does not become a daemon.
void unblock_start_signals();

}  // namespace w8y::app

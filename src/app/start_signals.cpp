// Only in the program w8yd: a test or another program with this file would block the signals too.
#include "app/start_signals.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace w8y::app {

namespace {

constexpr std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

constexpr std::uint64_t start_signals =
    bit_of(SIGUSR1) | bit_of(SIGUSR2) | bit_of(SIGHUP) | bit_of(SIGCONT);

// Uses the system call: neither the libraries nor the sanitizers have run their constructors yet.
__attribute__((no_sanitize("address", "undefined"))) void change_mask(int how) {
  const std::uint64_t changed = start_signals;
  syscall(SYS_rt_sigprocmask, how, &changed, nullptr, sizeof changed);
}

/// Blocks the signals. Otherwise, SIGUSR1, SIGUSR2 and SIGHUP kill a w8yd that has no handlers yet.
/// SIGCONT is blocked so that a resume that follows a SIGUSR1 does not arrive before it.
__attribute__((no_sanitize("address", "undefined"))) void block_start_signals() {
  change_mask(SIG_BLOCK);
}

/// Called by the dynamic loader after the relocations, before the constructors of the libraries.
__attribute__((section(".preinit_array"),
               used)) void (*const before_constructors)() = block_start_signals;

}  // namespace

void unblock_start_signals() {
  change_mask(SIG_UNBLOCK);
}

}  // namespace w8y::app

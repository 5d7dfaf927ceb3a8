// In the program w8yd only: a test or another program that has this file blocks the signals too.
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

// By the system call: no library has run its constructors yet, and neither have the sanitizers.
__attribute__((no_sanitize("address", "undefined"))) void change_mask(int how) {
  const std::uint64_t changed = start_signals;
  syscall(SYS_rt_sigprocmask, how, &changed, nullptr, sizeof changed);
}

/// Without it, each of the three kills a w8yd that has no handlers yet. SIGCONT is among them so
/// that a resume that follows a SIGUSR1 is not lost before it.
__attribute__((no_sanitize("address", "undefined"))) void block_start_signals() {
  change_mask(SIG_BLOCK);
}

/// The dynamic loader calls it after the relocations, before the constructors of the libraries.
__attribute__((section(".preinit_array"),
               used)) void (*const before_constructors)() = block_start_signals;

}  // namespace

void unblock_start_signals() {
  change_mask(SIG_UNBLOCK);
}

}  // namespace w8y::app

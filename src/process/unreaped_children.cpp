#include "process/unreaped_children.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/error_text.hpp"
#include "process/orphans.hpp"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace w8y::process {

namespace {

Duration time_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

/// Omits a peak memory that does not exceed the peak of this process: until exec, a child shares
/// the memory of this process, and the kernel counts it for the child.
ResourceUse use_of(const rusage& usage) {
  constexpr std::uint64_t kib = 1024;
  ResourceUse used{time_of(usage.ru_utime) + time_of(usage.ru_stime), std::nullopt};
  rusage ours{};
  if (getrusage(RUSAGE_SELF, &ours) == 0 && usage.ru_maxrss > ours.ru_maxrss)
    used.peak_memory = static_cast<std::uint64_t>(usage.ru_maxrss) * kib;
  return used;
}

}  // namespace

bool reap(int pidfd, pid_t pid, ProcessEnd& end, ResourceUse* used) {
  siginfo_t info{};
  rusage usage{};
  // The function of the C library has no argument for the resources used.
  while (syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG, &usage) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return false;
    started_children().erase(pid);
    end = NotStarted{"cannot read its exit status: " + error_text(errno)};
    return true;
  }
  if (info.si_pid == 0) return false;
  started_children().erase(pid);
  if (used != nullptr) *used = use_of(usage);
  if (info.si_code == CLD_EXITED) {
    end = Exited{info.si_status};
  } else {
    end = Signalled{info.si_status};
  }
  return true;
}

void signal_by(int pidfd, int number) {
  syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0);
}

std::size_t UnreapedChildren::of_start(std::string_view start) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(all_, [&](const One& one) { return one.start == start; }));
}

void UnreapedChildren::sweep() {
  std::erase_if(all_, [](const One& one) {
    ProcessEnd ignored;
    return reap(one.pidfd.get(), one.pid, ignored);
  });
}

UnreapedChildren& forgotten() {
  thread_local UnreapedChildren list;
  return list;
}

}  // namespace w8y::process

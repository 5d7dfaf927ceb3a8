#include "process/forgotten.hpp"

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

bool reap(int pidfd, pid_t pid, ProcessEnd& end) {
  siginfo_t info{};
  while (waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info,
                WEXITED | WNOHANG) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return false;
    started_children().erase(pid);
    end = NotStarted{"its exit status can't be found out: " + error_text(errno)};
    return true;
  }
  if (info.si_pid == 0) return false;
  started_children().erase(pid);
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

std::size_t Forgotten::of_start(std::string_view start) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(all_, [&](const One& one) { return one.start == start; }));
}

void Forgotten::sweep() {
  std::erase_if(all_, [](const One& one) {
    ProcessEnd ignored;
    return reap(one.pidfd.get(), one.pid, ignored);
  });
}

Forgotten& forgotten() {
  thread_local Forgotten list;
  return list;
}

}  // namespace w8y::process

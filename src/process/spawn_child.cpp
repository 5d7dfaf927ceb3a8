#include "process/spawn_child.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

// Sanitizers do not support this stack, nor an exit that does not end the program.
#define W8Y_BARE __attribute__((no_sanitize("address", "undefined")))

// On architectures that started with 16-bit IDs, the 32-bit calls have other names.
#ifdef SYS_setresuid32
#define W8Y_SETRESUID SYS_setresuid32
#define W8Y_SETRESGID SYS_setresgid32
#define W8Y_SETGROUPS SYS_setgroups32
#else
#define W8Y_SETRESUID SYS_setresuid
#define W8Y_SETRESGID SYS_setresgid
#define W8Y_SETGROUPS SYS_setgroups
#endif

namespace w8y::process {

namespace {

constexpr int first_realtime = 32;
constexpr int last_signal = 64;
constexpr std::size_t kernel_sigset_size = 8;

W8Y_BARE void reset_signal(int number) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(number, &standard, nullptr);
}

W8Y_BARE void reset_standard_signals(const ChildPlan& plan) {
  for (int number = 1; number < first_realtime; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_DFL) continue;
    if (now.sa_handler == SIG_IGN && plan.keep_ignored && number != SIGPIPE) continue;
    reset_signal(number);
  }
}

/// Resets signals: a handler of this process must not run in the child, which must not inherit
/// ignored signals.
W8Y_BARE void reset_signals(const ChildPlan& plan) {
  if (plan.handlers_cleared && plan.keep_ignored) {
    reset_signal(SIGPIPE);
  } else {
    reset_standard_signals(plan);
  }
  for (int number = first_realtime; plan.realtime_signals != 0 && number <= last_signal; ++number)
    if ((plan.realtime_signals >> (number - 1) & 1) != 0) reset_signal(number);
  const std::uint64_t nothing = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, kernel_sigset_size);
}

W8Y_BARE bool place_streams(const ChildPlan& plan) {
  int from[3] = {plan.streams[0], plan.streams[1], plan.streams[2]};
  // A source among 0, 1 and 2 could be overwritten before it is copied, so it is moved first.
  for (int target = 0; target < 3; ++target) {
    if (from[target] < 0 || from[target] > 2 || from[target] == target) continue;
    from[target] = static_cast<int>(syscall(SYS_fcntl, from[target], F_DUPFD_CLOEXEC, 3));
    if (from[target] < 0) return false;
  }
  for (int target = 0; target < 3; ++target) {
    if (from[target] < 0) continue;
    const long result = from[target] == target ? syscall(SYS_fcntl, target, F_SETFD, 0)
                                               : syscall(SYS_dup3, from[target], target, 0);
    if (result < 0) return false;
  }
  return true;
}

struct DirEntry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

W8Y_BARE int number_of(const char* name) {
  int number = 0;
  for (; *name != 0; ++name) {
    if (*name < '0' || *name > '9') return -1;
    number = number * 10 + (*name - '0');
  }
  return number;
}

/// For kernels before 5.9, and filters that reject close_range.
W8Y_BARE bool close_listed(int first) {
  const int directory = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (directory < 0) return false;
  alignas(DirEntry) char buffer[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, directory, buffer, sizeof buffer);
    if (got < 0) return false;
    if (got == 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirEntry*>(buffer + at);
      const int fd = number_of(entry->name);
      if (fd >= first && fd != directory) syscall(SYS_close, fd);
      at += entry->size;
    }
  }
  syscall(SYS_close, directory);
  return true;
}

/// Number to which the status descriptor is moved, so that all other descriptors are one range.
constexpr int status_place = 3;

W8Y_BARE bool close_others(ChildPlan& plan) {
  if (plan.status >= 0 && plan.status != status_place) {
    if (syscall(SYS_dup3, plan.status, status_place, O_CLOEXEC) < 0) return false;
    plan.status = status_place;
  }
  const int first = plan.status >= 0 ? status_place + 1 : status_place;
  return syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0 ||
         close_listed(first);
}

W8Y_BARE bool set_limits(ChildPlan& plan) {
  for (std::size_t i = 0; i < plan.limit_count; ++i) {
    plan.failure.limit = i;
    if (syscall(SYS_prlimit64, 0, plan.limit_resources[i], &plan.limits[i], nullptr) != 0)
      return false;
  }
  return true;
}

W8Y_BARE Step become(const ChildPlan& plan) {
  if (!plan.has_credentials) return Step::none;
  if (syscall(W8Y_SETGROUPS, plan.group_count, plan.groups) != 0) return Step::groups;
  if (syscall(W8Y_SETRESGID, plan.gid, plan.gid, plan.gid) != 0) return Step::group;
  if (syscall(W8Y_SETRESUID, plan.uid, plan.uid, plan.uid) != 0) return Step::user;
  return Step::none;
}

/// Clears the permitted, effective and inheritable sets; the kernel lowers the ambient set with
/// them (capabilities(7)). The bounding set stays: file capabilities need it.
W8Y_BARE bool clear_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  std::uint32_t any = 0;
  for (auto& set : sets) {
    any |= set.permitted | set.inheritable;
    set = {0, 0, 0};
  }
  // Without capabilities, avoid capset, which a system call filter may refuse.
  return any == 0 || syscall(SYS_capset, &header, sets) == 0;
}

/// Sets the parent-death signal. Must be called after a change of credentials, which clears the
/// signal. Also checks whether the parent has already ended, since there is no signal then.
W8Y_BARE bool tie_to_parent(const ChildPlan& plan) {
  if (!plan.die_with_parent) return true;
  if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return false;
  if (syscall(SYS_getppid) == plan.parent) return true;
  errno = ESRCH;
  return false;
}

W8Y_BARE Step prepare(ChildPlan& plan) {
  if (plan.own_session && syscall(SYS_setsid) < 0) return Step::session;
  reset_signals(plan);
  if (!place_streams(plan)) return Step::streams;
  if (plan.close_others && !close_others(plan)) return Step::close_others;
  if (plan.has_umask) syscall(SYS_umask, plan.umask);
  if (plan.has_nice && syscall(SYS_setpriority, PRIO_PROCESS, 0, plan.nice) != 0) return Step::nice;
  if (!set_limits(plan)) return Step::limit;
  if (const Step failed = become(plan); failed != Step::none) return failed;
  // Before steps that may block: a child whose w8yd has ended exits here.
  if (!tie_to_parent(plan)) return Step::parent_death;
  // After all steps that may need a capability: nice, limits, user.
  if (plan.clear_capabilities && !clear_capabilities()) return Step::capabilities;
  // With the credentials of the run: only its user may have permission, as for a home on NFS, or
  // its user may lack permission that root has.
  if (plan.cwd != nullptr && syscall(SYS_chdir, plan.cwd) != 0) return Step::directory;
  if (plan.no_new_privs && syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return Step::no_new_privs;
  return Step::none;
}

}  // namespace

W8Y_BARE void report_failure(int status, const SpawnFailure& failure, const char* text,
                             std::size_t size) {
  struct iovec parts[2];
  parts[0].iov_base = const_cast<SpawnFailure*>(&failure);
  parts[0].iov_len = sizeof failure;
  parts[1].iov_base = const_cast<char*>(text);
  parts[1].iov_len = size;
  syscall(SYS_writev, status, parts, size == 0 ? 1 : 2);
}

W8Y_BARE int run_child(void* argument) {
  auto& plan = *static_cast<ChildPlan*>(argument);
  SpawnFailure& failure = plan.failure;
  failure.step = prepare(plan);
  if (failure.step == Step::none) {
    syscall(SYS_execve, plan.program, plan.argv, plan.envp);
    failure.step = Step::run;
  }
  failure.error = errno;
  if (failure.step == Step::run && failure.error == ENOENT)
    failure.program_is_there = syscall(SYS_faccessat, AT_FDCWD, plan.program, F_OK) == 0;
  if (plan.status >= 0) report_failure(plan.status, failure, nullptr, 0);
  syscall(SYS_exit_group, 127);
  return 127;
}

}  // namespace w8y::process

#include "process/spawn.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "core/fd.hpp"
#include "process/env_file.hpp"
#include "process/spawn_child.hpp"
#include "process/spawn_plan.hpp"

namespace w8y::process {

namespace {

/// Stack of the child while this thread waits; one per thread. The lowest page is a guard.
class ChildStack {
 public:
  ChildStack() {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    mprotect(memory, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);
    memory_ = static_cast<char*>(memory);
  }
  ~ChildStack() {
    if (memory_ != nullptr) munmap(memory_, size);
  }
  ChildStack(const ChildStack&) = delete;
  ChildStack& operator=(const ChildStack&) = delete;

  /// Stacks grow down; nullptr: no memory.
  [[nodiscard]] char* top() const { return memory_ == nullptr ? nullptr : memory_ + size; }
  [[nodiscard]] char* bottom() const { return memory_; }

 private:
  static constexpr std::size_t size = std::size_t{256} << 10;
  char* memory_ = nullptr;
};

/// Blocks all signals, including those reserved by glibc: a handler of this process must not run in
/// the child, in shared memory.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    const std::uint64_t all = ~std::uint64_t{0};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  ~AllSignalsBlocked() {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

/// Restores the dumpable flag: a child that changes credentials clears it for the shared memory.
class DumpableKept {
 public:
  explicit DumpableKept(bool needed) : before_(needed ? prctl(PR_GET_DUMPABLE) : -1) {}
  ~DumpableKept() {
    if (before_ == 1) prctl(PR_SET_DUMPABLE, 1);
  }
  DumpableKept(const DumpableKept&) = delete;
  DumpableKept& operator=(const DumpableKept&) = delete;

 private:
  int before_;
};

/// Clones the child. Returns once it has called exec or exited.
pid_t clone_child(ChildPlan& plan, int group, int& pidfd, int& group_error) {
  thread_local const ChildStack stack;
  if (stack.top() == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  const DumpableKept dumpable(plan.has_credentials);
  const AllSignalsBlocked blocked;
  if (group >= 0) {
    plan.realtime_signals = realtime_signals();
    const pid_t pid = clone_into_group(group, stack.bottom(), stack.top(), plan, pidfd);
    if (pid >= 0 || !is_about_group(errno)) return pid;
    group_error = errno;
  } else if (plan.keep_ignored) {
    // Saves two system calls per signal, in all about 60.
    const pid_t pid = clone_cleared(stack.bottom(), stack.top(), plan, pidfd);
    if (pid >= 0) return pid;
    plan.realtime_signals = realtime_signals();
  }
  return clone(run_child, stack.top(), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan,
               &pidfd);
}

std::optional<SpawnError> spawn_checked(const SpawnRequest& request, Spawned& result) {
  thread_local SpawnScratch scratch;
  ChildPlan plan;
  lay_out(request, scratch, plan);

  int pidfd = -1;
  int group_error = 0;
  const pid_t pid = clone_child(plan, request.group, pidfd, group_error);
  if (pid < 0) {
    plan.failure.step = Step::clone;
    plan.failure.error = errno;
    return SpawnError{plan.failure.error, text_of(request, plan.failure)};
  }
  Fd owned(pidfd);
  if (plan.failure.step == Step::none && owned) {
    result = {pid, owned.release(), group_error};
    return std::nullopt;
  }
  if (plan.failure.step == Step::none) ::kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (plan.failure.step == Step::none)
    return SpawnError{ENOSYS, "this kernel has no process descriptors: Linux 5.4 is needed"};
  return SpawnError{plan.failure.error, text_of(request, plan.failure), false,
                    what_failed(plan.failure.step)};
}

}  // namespace

bool SpawnError::host_is_short() const {
  // ETXTBSY: the program is being written, and will soon be available.
  constexpr std::array shortages = {EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT, ETXTBSY};
  return of_host || std::find(shortages.begin(), shortages.end(), error) != shortages.end();
}

bool SpawnError::host_lacks() const {
  return about != About::making && error != E2BIG && !host_is_short();
}

std::optional<SpawnError> spawn(const SpawnRequest& request, Spawned& result) {
  result = {};
  try {
    if (auto problem = check_request(request)) return problem;
    if (!request.env_file.empty()) {
      SpawnRequest whole = request;
      if (auto problem = add_env_file(whole)) return problem;
      return spawn_checked(whole, result);
    }
    return spawn_checked(request, result);
  } catch (const std::bad_alloc&) {
    return SpawnError{ENOMEM, "cannot create a process: no memory"};
  }
}

}  // namespace w8y::process

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
#include <system_error>

#include "process/fd.hpp"
#include "process/host_limits.hpp"
#include "process/spawn_child.hpp"

namespace w8y::process {

namespace {

/// The child runs on this while we wait; made once per thread. The lowest page is a guard.
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

  /// Stacks grow down; nullptr if there was no memory.
  [[nodiscard]] char* top() const { return memory_ == nullptr ? nullptr : memory_ + size; }
  [[nodiscard]] char* bottom() const { return memory_; }

 private:
  static constexpr std::size_t size = std::size_t{256} << 10;
  char* memory_ = nullptr;
};

/// Blocks every signal, those that glibc keeps for itself too: no handler of ours may run in the
/// child, on memory that is ours.
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

/// A child that takes other credentials marks the memory that it shares with us as not dumpable.
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

/// What the plan points to; kept from spawn to spawn so that it needn't be allocated each time.
struct Scratch {
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<int> limit_resources;
  std::vector<RawLimit> limits;
};

/// What is looked at once per process: 30 fewer system calls for each spawn.
struct SignalsAtStart {
  SignalsAtStart() {
    for (int number = 32; number <= 64; ++number) {
      struct sigaction now {};
      if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_DFL)
        realtime |= std::uint64_t{1} << (number - 1);
    }
    struct sigaction child {};
    if (sigaction(SIGCHLD, nullptr, &child) == 0 && child.sa_handler == SIG_IGN)
      signal(SIGCHLD, SIG_DFL);
  }
  std::uint64_t realtime = 0;
};

std::string why(int error) {
  return std::generic_category().message(error);
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

SpawnError invalid(std::string text) {
  return {EINVAL, std::move(text)};
}

std::optional<SpawnError> check(const SpawnRequest& request) {
  if (request.program.empty() || has_nul(request.program))
    return invalid("can't run a program without a proper name");
  if (has_nul(request.cwd)) return invalid("the working directory holds a NUL byte");
  for (std::size_t i = 0; i < request.argv.size(); ++i)
    if (has_nul(request.argv[i]))
      return invalid("argument " + std::to_string(i) + " holds a NUL byte");
  for (const std::string& variable : request.env)
    if (has_nul(variable))
      return invalid("environment variable " + variable.substr(0, variable.find('=')) +
                     " holds a NUL byte");
  return std::nullopt;
}

void point_to(std::vector<char*>& pointers, const std::vector<std::string>& texts) {
  pointers.clear();
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
}

void lay_out(const SpawnRequest& request, Scratch& scratch, ChildPlan& plan) {
  point_to(scratch.argv, request.argv);
  point_to(scratch.envp, request.env);
  scratch.limit_resources.clear();
  scratch.limits.clear();
  for (const ResourceLimit& limit : request.rlimits) {
    const std::uint64_t value = limit.value.value_or(RLIM_INFINITY);
    scratch.limit_resources.push_back(limit.resource);
    scratch.limits.push_back({value, value});
  }
  // Last: `failed_limit` counts those that were asked for.
  const auto nofile = descriptor_limit_of_children();
  const auto& asked = scratch.limit_resources;
  if (nofile && std::find(asked.begin(), asked.end(), RLIMIT_NOFILE) == asked.end()) {
    scratch.limit_resources.push_back(RLIMIT_NOFILE);
    scratch.limits.push_back({nofile->rlim_cur, nofile->rlim_max});
  }
  plan.program = request.program.c_str();
  plan.argv = scratch.argv.data();
  plan.envp = scratch.envp.data();
  plan.cwd = request.cwd.empty() ? nullptr : request.cwd.c_str();
  plan.streams = {request.in, request.out, request.err};
  plan.parent = getpid();
  plan.own_session = request.own_session;
  plan.close_others = request.close_others;
  plan.die_with_parent = request.die_with_parent;
  plan.no_new_privs = request.no_new_privs;
  plan.keep_ignored = request.keep_ignored;
  plan.has_umask = request.umask.has_value();
  plan.umask = static_cast<mode_t>(request.umask.value_or(0));
  plan.has_nice = request.nice.has_value();
  plan.nice = request.nice.value_or(0);
  plan.limit_resources = scratch.limit_resources.data();
  plan.limits = scratch.limits.data();
  plan.limit_count = scratch.limits.size();
  if (!request.credentials) return;
  plan.has_credentials = true;
  plan.uid = request.credentials->uid;
  plan.gid = request.credentials->gid;
  plan.groups = request.credentials->groups.data();
  plan.group_count = request.credentials->groups.size();
}

std::string why_not_run(const SpawnRequest& request, int error) {
  const std::string what = "can't run " + request.program + ": ";
  // Relative to the child's folder, which need not be ours: then nobody can say more.
  const bool visible = request.program.front() == '/' || request.cwd.empty();
  if (error == ENOENT && visible && access(request.program.c_str(), F_OK) == 0)
    return what + "the interpreter that it names is not there";
  if (error == ENOEXEC) return what + why(error) + " (a script needs a first line with #!)";
  if (error == E2BIG) return what + "arguments and environment are too long";
  return what + why(error);
}

std::string text_of(const SpawnRequest& request, const ChildPlan& plan) {
  const auto cant = [&plan](const std::string& what) {
    return "can't " + what + ": " + why(plan.error);
  };
  switch (plan.failed) {
    case Step::none:
      return {};
    case Step::clone:
      return cant("make a process");
    case Step::session:
      return cant("start a session");
    case Step::streams:
      return cant("set up the standard streams");
    case Step::close_others:
      return cant("close the other descriptors");
    case Step::nice:
      return cant("set nice to " + std::to_string(plan.nice));
    case Step::limit: {
      if (plan.failed_limit >= request.rlimits.size()) return cant("set the limit nofile");
      const ResourceLimit& limit = request.rlimits[plan.failed_limit];
      return cant("set the limit " + limit.name + " to " +
                  (limit.value ? std::to_string(*limit.value) : "unlimited"));
    }
    case Step::groups:
      return cant("set supplementary groups");
    case Step::group:
      return cant("change to group " + std::to_string(plan.gid));
    case Step::user:
      return cant("change to user " + std::to_string(plan.uid));
    case Step::folder:
      return cant("change to folder " + request.cwd);
    case Step::no_new_privs:
      return cant("give up new privileges");
    case Step::parent_death:
      return cant("tie it to its parent");
    case Step::run:
      return why_not_run(request, plan.error);
  }
  return {};
}

/// Whether a clone failed because of the group, not for want of processes or memory.
bool is_about_group(int error) {
  constexpr std::array shortages = {EAGAIN, ENOMEM, EMFILE, ENFILE};
  return std::find(shortages.begin(), shortages.end(), error) == shortages.end();
}

/// Returns once the child has called exec, or has exited.
pid_t clone_child(ChildPlan& plan, int group, int& pidfd, int& group_error) {
  thread_local const ChildStack stack;
  if (stack.top() == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  const DumpableKept dumpable(plan.has_credentials);
  const AllSignalsBlocked blocked;
  if (group >= 0) {
    const pid_t pid = clone_into_group(group, stack.bottom(), stack.top(), plan, pidfd);
    if (pid >= 0 || !is_about_group(errno)) return pid;
    group_error = errno;
  }
  return clone(run_child, stack.top(), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan,
               &pidfd);
}

std::optional<SpawnError> spawn_checked(const SpawnRequest& request, Spawned& result) {
  static const SignalsAtStart at_start;
  thread_local Scratch scratch;
  ChildPlan plan;
  lay_out(request, scratch, plan);
  plan.realtime_signals = at_start.realtime;

  int pidfd = -1;
  int group_error = 0;
  const pid_t pid = clone_child(plan, request.group, pidfd, group_error);
  if (pid < 0) {
    plan.failed = Step::clone;
    plan.error = errno;
    return SpawnError{plan.error, text_of(request, plan)};
  }
  Fd owned(pidfd);
  if (plan.failed == Step::none && owned) {
    result = {pid, owned.release(), group_error};
    return std::nullopt;
  }
  if (plan.failed == Step::none) ::kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (plan.failed == Step::none)
    return SpawnError{ENOSYS, "this kernel has no process descriptors: Linux 5.4 is needed"};
  return SpawnError{plan.error, text_of(request, plan)};
}

}  // namespace

bool SpawnError::host_is_short() const {
  constexpr std::array shortages = {EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT};
  return of_host || std::find(shortages.begin(), shortages.end(), error) != shortages.end();
}

std::optional<SpawnError> spawn(const SpawnRequest& request, Spawned& result) {
  result = {};
  try {
    if (auto problem = check(request)) return problem;
    return spawn_checked(request, result);
  } catch (const std::bad_alloc&) {
    return SpawnError{ENOMEM, "can't make a process: no memory"};
  }
}

}  // namespace w8y::process

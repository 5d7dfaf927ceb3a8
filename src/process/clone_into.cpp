// Calls clone3(2) with CLONE_INTO_CGROUP. The child has a stack of its own, so both sides return
// from the same system call on different stacks; C++ cannot express that.
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "process/spawn.hpp"
#include "process/spawn_child.hpp"

namespace w8y::process {

namespace {

/// Argument of clone3, as of Linux 5.7.
struct CloneArguments {
  std::uint64_t flags = 0;
  std::uint64_t pidfd = 0;
  std::uint64_t child_tid = 0;
  std::uint64_t parent_tid = 0;
  std::uint64_t exit_signal = 0;
  std::uint64_t stack = 0;
  std::uint64_t stack_size = 0;
  std::uint64_t tls = 0;
  std::uint64_t set_tid = 0;
  std::uint64_t set_tid_size = 0;
  std::uint64_t cgroup = 0;
};

constexpr std::uint64_t clear_handlers = std::uint64_t{1} << 32;
constexpr std::uint64_t into_cgroup = std::uint64_t{1} << 33;
constexpr long clone3_number = 435;  // the same on all architectures

using Entry = int (*)(void*);

/// Calls clone3. The child calls entry(argument), which does not return.
#if defined(__x86_64__)
long call_clone3(CloneArguments* arguments, std::size_t size, Entry entry, void* argument) {
  long result = 0;
  register Entry child_entry asm("r8") = entry;
  register void* child_argument asm("r9") = argument;
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "movq %%r9, %%rdi\n\t"
      "callq *%%r8\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "0"(clone3_number), "D"(arguments), "S"(size), "r"(child_entry), "r"(child_argument)
      : "rcx", "r11", "cc", "memory");
  return result;
}
#elif defined(__aarch64__)
long call_clone3(CloneArguments* arguments, std::size_t size, Entry entry, void* argument) {
  register long number asm("x8") = clone3_number;
  register long first asm("x0") = reinterpret_cast<long>(arguments);
  register std::size_t second asm("x1") = size;
  register Entry child_entry asm("x2") = entry;
  register void* child_argument asm("x3") = argument;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x3\n\t"
      "blr x2\n\t"
      "brk #1\n"
      "1:"
      : "+r"(first)
      : "r"(number), "r"(second), "r"(child_entry), "r"(child_argument)
      : "cc", "memory");
  return first;
}
#else
long call_clone3(CloneArguments*, std::size_t, Entry, void*) {
  return -ENOSYS;
}
#endif

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

bool can_clone_into_group() {
  // The size is too small: a kernel that has the call, and a filter that permits it, return EINVAL.
  return call_clone3(nullptr, 0, nullptr, nullptr) == -EINVAL;
}

namespace {

pid_t clone_beside(CloneArguments& arguments, char* stack, char* stack_top, ChildPlan& plan,
                   int& pidfd) {
  arguments.flags |= CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
  arguments.pidfd = address(&pidfd);
  arguments.exit_signal = SIGCHLD;
  arguments.stack = address(stack);
  arguments.stack_size = static_cast<std::uint64_t>(stack_top - stack);
  const long result = call_clone3(&arguments, sizeof arguments, run_child, &plan);
  if (result >= 0) return static_cast<pid_t>(result);
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

pid_t clone_into_group(int group, char* stack, char* stack_top, ChildPlan& plan, int& pidfd) {
  CloneArguments arguments;
  arguments.flags = into_cgroup;
  arguments.cgroup = static_cast<std::uint64_t>(group);
  return clone_beside(arguments, stack, stack_top, plan, pidfd);
}

pid_t clone_cleared(char* stack, char* stack_top, ChildPlan& plan, int& pidfd) {
  CloneArguments arguments;
  arguments.flags = clear_handlers;
  plan.handlers_cleared = true;
  const pid_t pid = clone_beside(arguments, stack, stack_top, plan, pidfd);
  if (pid < 0) plan.handlers_cleared = false;
  return pid;
}

namespace {

pid_t clone_copy_into(int group, std::uint64_t flags, int& pidfd) {
  CloneArguments arguments;
  arguments.flags = flags | into_cgroup;
  arguments.pidfd = address(&pidfd);
  arguments.cgroup = static_cast<std::uint64_t>(group);
  return static_cast<pid_t>(syscall(clone3_number, &arguments, sizeof arguments));
}

}  // namespace

pid_t clone_copy(int group, int& pidfd, int& group_error) {
  constexpr std::uint64_t flags = CLONE_PARENT | CLONE_PIDFD;
  if (group >= 0) {
    const pid_t pid = clone_copy_into(group, flags, pidfd);
    if (pid >= 0 || !is_about_group(errno)) return pid;
    group_error = errno;
  }
  return static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, &pidfd, nullptr, nullptr));
}

bool is_about_group(int error) {
  constexpr std::array shortages = {EAGAIN, ENOMEM, EMFILE, ENFILE};
  return std::find(shortages.begin(), shortages.end(), error) == shortages.end();
}

}  // namespace w8y::process

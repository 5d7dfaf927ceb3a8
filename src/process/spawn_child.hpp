// The child's part of a spawn: from the clone to the exec, by system calls only. It shares the
// parent's memory, so it must not allocate, lock, or call what tells other threads.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace w8y::process {

/// Where a spawn can fail.
enum class Step {
  none,
  clone,
  session,
  streams,
  close_others,
  nice,
  limit,
  groups,
  group,
  user,
  folder,
  no_new_privs,
  parent_death,
  run
};

struct RawLimit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

/// Everything the child needs, laid out by the parent: plain pointers and numbers. What it tells
/// back stands at the end.
struct ChildPlan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* cwd = nullptr;  ///< nullptr: ours
  std::array<int, 3> streams{-1, -1, -1};
  pid_t parent = 0;
  std::uint64_t realtime_signals = 0;  ///< bit n - 1: signal n, of 32 and more, is to be reset

  bool own_session = true;
  bool close_others = true;
  bool die_with_parent = true;
  bool no_new_privs = false;
  bool keep_ignored = false;
  bool has_umask = false;
  bool has_nice = false;
  bool has_credentials = false;
  mode_t umask = 0;
  int nice = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const gid_t* groups = nullptr;
  std::size_t group_count = 0;
  const int* limit_resources = nullptr;
  const RawLimit* limits = nullptr;
  std::size_t limit_count = 0;

  Step failed = Step::none;
  int error = 0;
  std::size_t failed_limit = 0;
};

/// As clone(2) with CLONE_VM | CLONE_VFORK | CLONE_PIDFD, and born in a control group: glibc has no
/// call for that. -1: errno says why; ENOSYS where this can't be had.
pid_t clone_into_group(int group, char* stack, char* stack_top, ChildPlan& plan, int& pidfd);

/// Entry of the cloned child; never returns but by exec or exit.
int run_child(void* plan);

}  // namespace w8y::process

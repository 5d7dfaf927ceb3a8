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
  environment,
  session,
  streams,
  close_others,
  nice,
  limit,
  groups,
  group,
  user,
  capabilities,
  directory,
  no_new_privs,
  parent_death,
  run
};

struct RawLimit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

/// What went wrong, and where.
struct SpawnFailure {
  Step step = Step::none;
  int error = 0;
  std::size_t limit = 0;          ///< which one, for Step::limit
  bool program_is_there = false;  ///< for Step::run: it is what it names that is missing
  bool of_host = false;           ///< for Step::environment: see SpawnError
};

/// Everything the child needs, laid out by the parent: plain pointers and numbers. What it tells
/// back stands at the end.
struct ChildPlan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* cwd = nullptr;  ///< nullptr: ours
  std::array<int, 3> streams{-1, -1, -1};
  int status = -1;  ///< told there, too, what went wrong; -1: we share our memory
  pid_t parent = 0;
  std::uint64_t realtime_signals = 0;  ///< bit n - 1: signal n, of 32 and more, is to be reset
  bool handlers_cleared = false;       ///< by the kernel: no signal has a handler of ours

  bool own_session = true;
  bool close_others = true;
  bool die_with_parent = true;
  bool no_new_privs = false;
  bool clear_capabilities = false;
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

  SpawnFailure failure;
};

/// As clone(2) with CLONE_VM | CLONE_VFORK | CLONE_PIDFD, and born in a control group: glibc has no
/// call for that. -1: errno says why; ENOSYS where this can't be had.
pid_t clone_into_group(int group, char* stack, char* stack_top, ChildPlan& plan, int& pidfd);
/// The same in our own group, and without our handlers, so that the child needn't look for them;
/// Linux 5.5 can.
pid_t clone_cleared(char* stack, char* stack_top, ChildPlan& plan, int& pidfd);

/// As fork(2), but that the child is our parent's (CLONE_PARENT), with a pidfd, and born in a
/// control group unless `group` is -1 or can't take it: `group_error` says so.
pid_t clone_copy(int group, int& pidfd, int& group_error);
/// Whether a clone failed because of the group, not for want of processes or memory.
bool is_about_group(int error);

/// Writes what went wrong to `status`, with a text or without.
void tell_failure(int status, const SpawnFailure& failure, const char* text, std::size_t size);

/// Entry of the cloned child; never returns but by exec or exit.
int run_child(void* plan);

}  // namespace w8y::process

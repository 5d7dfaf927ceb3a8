// The child's part of a spawn: from the clone to the exec, by system calls only. It shares the
// parent's memory, so it must not allocate, lock, or call functions that affect other threads.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace w8y::process {

/// Steps of a spawn that can fail.
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

/// Failed step of a spawn and its errno.
struct SpawnFailure {
  Step step = Step::none;
  int error = 0;
  std::size_t limit = 0;          ///< index of the limit, for Step::limit
  bool program_is_there = false;  ///< for Step::run: the missing file is its interpreter
  bool of_host = false;           ///< for Step::environment: see SpawnError
};

/// Input of the child, prepared by the parent as plain pointers and numbers. The last member is its
/// result.
struct ChildPlan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* cwd = nullptr;  ///< nullptr: that of this process
  std::array<int, 3> streams{-1, -1, -1};
  int status = -1;  ///< pipe for the failure; -1: the parent reads it in this plan
  pid_t parent = 0;
  std::uint64_t realtime_signals = 0;  ///< signals to reset; bit n - 1: signal n, from 32 on
  bool handlers_cleared = false;       ///< the kernel has removed all signal handlers

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

/// Acts as clone(2) with CLONE_VM | CLONE_VFORK | CLONE_PIDFD, in a control group; glibc has no
/// function for that. Returns -1 with errno; ENOSYS if the kernel does not support it.
pid_t clone_into_group(int group, char* stack, char* stack_top, ChildPlan& plan, int& pidfd);
/// As clone_into_group(), but in the group of this process and without its signal handlers, so that
/// the child need not reset them. Requires Linux 5.5.
pid_t clone_cleared(char* stack, char* stack_top, ChildPlan& plan, int& pidfd);

/// Acts as fork(2), but the child's parent is that of this process (CLONE_PARENT), and there is a
/// pidfd. The child is in a control group unless `group` is -1; if the group cannot be used,
/// `group_error` is set.
pid_t clone_copy(int group, int& pidfd, int& group_error);
/// Returns whether a clone failed because of the group, not because of a shortage of processes or
/// memory.
bool is_about_group(int error);

/// Writes the failure to `status`, optionally with a text.
void report_failure(int status, const SpawnFailure& failure, const char* text, std::size_t size);

/// Entry point of the cloned child. It ends by exec or exit, and never returns.
int run_child(void* plan);

}  // namespace w8y::process

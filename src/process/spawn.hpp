// Starts a program as a child of a supervisor.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"

namespace w8y::process {

/// User and group IDs of an account. They are resolved before the spawn, because the child may make
/// system calls only.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  ///< supplementary
};

struct SpawnRequest {
  std::string program;                ///< absolute or relative path; PATH is not searched
  std::vector<std::string> argv;      ///< including argv[0]; no NUL bytes (that is a SpawnError)
  std::vector<std::string> env;       ///< "NAME=value"
  std::string env_file;               ///< read at the spawn; overrides `env`; empty: none
  std::vector<std::string> env_over;  ///< overrides `env` and `env_file`
  std::string cwd;                    ///< empty: that of this process
  bool cwd_is_fresh = false;          ///< this process has just created it
  int in = -1;                        ///< descriptors for 0, 1 and 2; -1: those of this process
  int out = -1;
  int err = -1;
  bool own_session = true;      ///< setsid: own session and process group
  bool close_others = true;     ///< closes every descriptor over 2
  bool die_with_parent = true;  ///< SIGKILL when the thread that spawned it ends
  bool no_new_privs = false;
  bool keep_capabilities = false;  ///< for a process that is part of w8yd; root always keeps them
  bool keep_ignored = false;       ///< ignored signals stay ignored, except SIGPIPE (nohup)
  std::optional<Credentials> credentials;
  std::optional<unsigned> umask;
  std::optional<int> nice;
  std::vector<ResourceLimit> rlimits;
  int group = -1;  ///< descriptor of the directory of a control group; -1: that of this process
};

struct Spawned {
  pid_t pid = 0;
  int pidfd = -1;       ///< closed by the caller; readable when the process has exited
  int group_error = 0;  ///< errno; not 0: the child runs in the control group of this process
};

/// Step that failed, and why: "cannot run /x/y: Permission denied", "cannot change to user 'z': …".
struct SpawnError {
  int error = 0;  ///< errno
  std::string text;
  bool of_host = false;  ///< the host is short of something, regardless of `error`
  enum class About {
    making,    ///< creating the process
    settings,  ///< a prerequisite: a directory, an account, a limit
    program,   ///< executing the program
  };
  About about = About::making;
  /// Returns whether the host is short of processes, memory, descriptors or disk. This is
  /// temporary, and no fault of the program or the item.
  [[nodiscard]] bool host_is_short() const;
  /// Returns whether a prerequisite is not available on this host. Too long arguments do not count.
  [[nodiscard]] bool host_lacks() const;
};

/// Returns whether this kernel can spawn a child in another group.
bool can_clone_into_group();

/// Spawns a child and waits until it has called exec. Only for programs, directories and users that
/// cannot delay the exec; other starts use a SpawnService. Never throws. After an error no process
/// is left. All signals of the child have their default disposition and none is blocked. Signals
/// from 32 on are reset only if they had another disposition at the first spawn. Requires
/// Linux 5.4. Ensures that SIGCHLD is not ignored; otherwise there would be no exit status.
std::optional<SpawnError> spawn(const SpawnRequest& request, Spawned& result);

}  // namespace w8y::process

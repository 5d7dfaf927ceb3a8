// Starting a program, with everything a supervisor owes its children.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"

namespace w8y::process {

/// Resolved before the spawn, so that the child's part is system calls only.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  ///< supplementary
};

struct SpawnRequest {
  std::string program;                ///< absolute or relative path: no look-up in PATH here
  std::vector<std::string> argv;      ///< argv[0] too; no NUL bytes (that is a SpawnError)
  std::vector<std::string> env;       ///< "NAME=value"
  std::string env_file;               ///< read at the spawn; stronger than `env`; empty: none
  std::vector<std::string> env_over;  ///< stronger than the file
  std::string cwd;                    ///< empty: ours
  bool cwd_is_fresh = false;          ///< we made it ourselves, just now
  int in = -1;                        ///< descriptors for 0, 1 and 2; -1: as ours
  int out = -1;
  int err = -1;
  bool own_session = true;      ///< setsid: own session and process group
  bool close_others = true;     ///< every descriptor over 2
  bool die_with_parent = true;  ///< SIGKILL when the thread that spawned it goes
  bool no_new_privs = false;
  bool keep_capabilities = false;  ///< for a process that is part of w8yd; root always keeps them
  bool keep_ignored = false;       ///< signals that we ignore stay ignored, but SIGPIPE (nohup)
  std::optional<Credentials> credentials;
  std::optional<unsigned> umask;
  std::optional<int> nice;
  std::vector<ResourceLimit> rlimits;
  int group = -1;  ///< descriptor of a control group's folder, to be born in; -1: as ours
};

struct Spawned {
  pid_t pid = 0;
  int pidfd = -1;       ///< the caller's to close; readable when the process has exited
  int group_error = 0;  ///< errno: the group could not take it, so it was born in ours
};

/// Which step failed and why: "can't run /x/y: Permission denied", "can't change to user 'z': …".
struct SpawnError {
  int error = 0;  ///< errno
  std::string text;
  bool of_host = false;  ///< the host is short, whatever the number says
  enum class About {
    making,    ///< the process
    settings,  ///< what a list names for it: a folder, an account, a limit
    program,   ///< that can't be executed
  };
  About about = About::making;
  /// The host is short of processes, memory, descriptors or disk: no program and no item is to
  /// blame, and it will pass.
  [[nodiscard]] bool host_is_short() const;
  /// What the list names is not to be had on this host. Arguments that are too long are no lack.
  [[nodiscard]] bool host_lacks() const;
};

/// Whether this kernel can let a child be born in another group.
bool can_clone_into_group();

/// Waits until the child has called exec. So it is only for programs, folders and users that can't
/// delay that; any other start goes by a SpawnService. Never throws. On an error no process is
/// left. All signals of the child have their default effect and none is blocked; of the real-time
/// ones those are reset that had another effect at the first spawn. Needs Linux 5.4. Makes sure
/// that SIGCHLD is not ignored: else no exit status could be had.
std::optional<SpawnError> spawn(const SpawnRequest& request, Spawned& result);

}  // namespace w8y::process

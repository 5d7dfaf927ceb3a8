#include "executor/child_options.hpp"

namespace w8y::executor {

std::optional<NotStarted> set_options(const ListConfig& rule, const process::Account& account,
                                      const ExecutorOptions& host,
                                      process::TempDirectory& directory,
                                      process::ChildOptions& options) {
  process::SpawnRequest& request = options.spawn;
  request.cwd = rule.child->cwd;
  if (rule.child->cwd == "temp") {
    if (const auto error = directory.make(account.credentials)) return not_started(*error);
    request.cwd = directory.path();
    request.cwd_is_fresh = true;
  }
  request.no_new_privs = rule.child->no_new_privs;
  request.credentials = account.credentials;
  request.umask = rule.child->umask;
  request.nice = rule.child->nice;
  request.rlimits = rule.child->rlimits;
  options.kill_grace = rule.kill_grace;
  options.groups = host.groups;
  options.service = host.spawns;
  options.limits = {rule.child->memory_max, rule.child->cpu_weight};
  return std::nullopt;
}

}  // namespace w8y::executor

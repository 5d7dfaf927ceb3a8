#include "executor/child_options.hpp"

namespace w8y::executor {

std::optional<NotStarted> set_options(const Rule& rule, const process::Account& account,
                                      const ExecutorOptions& host, process::TempFolder& folder,
                                      process::ChildOptions& options) {
  process::SpawnRequest& request = options.spawn;
  request.cwd = rule.cwd;
  if (rule.cwd == "temp") {
    if (const auto error = folder.make(account.credentials)) return not_started(*error);
    request.cwd = folder.path();
  }
  request.no_new_privs = rule.no_new_privs;
  request.credentials = account.credentials;
  request.umask = rule.umask;
  request.nice = rule.nice;
  request.rlimits = rule.rlimits;
  options.kill_grace = rule.kill_grace;
  options.groups = host.groups;
  options.limits = {rule.memory_max, rule.cpu_weight};
  return std::nullopt;
}

}  // namespace w8y::executor

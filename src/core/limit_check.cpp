#include "core/limit_check.hpp"

#include <algorithm>
#include <map>

namespace w8y {

namespace {

std::uint64_t processes_of(const ListNeed& need) {
  if (!need.rule->enabled) return 0;
  return need.streams ? std::min(need.rule->processes, need.rule->concurrency)
                      : need.rule->concurrency;
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string at_once(std::uint64_t processes) {
  return "processes: at least " + number(processes) + " at once";
}

/// Returns `nproc` of the list if it is set, otherwise that of the host.
std::uint64_t max_processes(const ListConfig& rule, std::uint64_t of_host) {
  for (const ResourceLimit& limit : rule.child->rlimits)
    if (limit.name == "nproc") return limit.value.value_or(~std::uint64_t{0});
  return of_host;
}

struct UserNeed {
  std::uint64_t processes = 0;
  std::uint64_t allowed = ~std::uint64_t{0};
};

void add_users(const std::vector<ListNeed>& lists, std::uint64_t most, const HostLimits& limits,
               std::vector<std::string>& lines) {
  std::map<std::string, UserNeed> users;
  for (const ListNeed& list : lists) {
    const ListConfig& rule = *list.rule;
    if (!rule.child->run_as.user && limits.exempt) continue;
    UserNeed& need = users[rule.child->run_as.user.value_or("")];
    need.processes += processes_of(list);
    need.allowed =
        std::min(need.allowed, max_processes(rule, limits.processes.value_or(~std::uint64_t{0})));
  }
  for (const auto& [user, need] : users) {
    const std::uint64_t processes = std::min(need.processes, most);
    if (processes < need.allowed) continue;
    lines.push_back(at_once(processes) + (user.empty() ? "" : " as user " + user) +
                    "; the limit of that user is " + number(need.allowed) +
                    " (ulimit -u, LimitNPROC=, rlimits.nproc)");
  }
}

}  // namespace

std::vector<std::string> shortfalls(const std::vector<ListNeed>& lists,
                                    const SupervisorSettings& supervisor,
                                    const HostLimits& limits) {
  std::uint64_t processes = 0;
  std::uint64_t limited = 0;  // with memory_max
  for (const ListNeed& list : lists) {
    processes += processes_of(list);
    if (list.rule->child->memory_max) limited += processes_of(list);
  }
  const std::uint64_t most =
      supervisor.host_concurrency > 0 ? supervisor.host_concurrency : ~std::uint64_t{0};
  processes = std::min(processes, most);
  limited = std::min(limited, processes);

  std::vector<std::string> lines;
  const std::uint64_t own = descriptors_of_host + supervisor.status.size() * descriptors_of_status;
  const std::uint64_t descriptors =
      own + (processes - limited) * descriptors_of_run + limited * descriptors_of_limited_run;
  if (limits.descriptors && descriptors > *limits.descriptors)
    lines.push_back("descriptors: " + number(processes) + " processes at once need " +
                    number(descriptors) + " (" + number(descriptors_of_run) + " each, " +
                    (limited > 0 ? number(descriptors_of_limited_run) + " with memory_max, " : "") +
                    number(own) + " for w8yd itself), but the limit of w8yd is " +
                    number(*limits.descriptors) + " (ulimit -Hn, LimitNOFILE=)");
  add_users(lists, most, limits, lines);
  if (limits.group && processes >= limits.group->most)
    lines.push_back(at_once(processes) + "; the limit of the control group " + limits.group->path +
                    " is " + number(limits.group->most) + " (pids.max, TasksMax=)");
  if (limits.kernel && processes >= *limits.kernel)
    lines.push_back(at_once(processes) + "; the limit of the kernel is " + number(*limits.kernel) +
                    " (kernel.pid_max, kernel.threads-max)");
  return lines;
}

}  // namespace w8y

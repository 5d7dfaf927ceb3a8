#include "core/limit_check.hpp"

#include <algorithm>
#include <map>

namespace w8y {

namespace {

std::uint64_t runs_of(const ListConfig& rule) {
  return rule.enabled ? rule.concurrency : 0;
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string runs_text(std::uint64_t runs) {
  return number(runs) + (runs == 1 ? " run" : " runs") + " at once";
}

/// Returns `nproc` of the list if it is set, otherwise that of the host.
std::uint64_t processes_for(const ListConfig& rule, std::uint64_t of_host) {
  for (const ResourceLimit& limit : rule.child->rlimits)
    if (limit.name == "nproc") return limit.value.value_or(~std::uint64_t{0});
  return of_host;
}

struct UserNeed {
  std::uint64_t runs = 0;
  std::uint64_t allowed = ~std::uint64_t{0};
};

void add_users(const std::vector<ListConfigPtr>& lists, std::uint64_t most,
               const HostLimits& limits, std::vector<std::string>& lines) {
  std::map<std::string, UserNeed> users;
  for (const ListConfigPtr& rule : lists) {
    if (!rule->child->run_as.user && limits.exempt) continue;
    UserNeed& need = users[rule->child->run_as.user.value_or("")];
    need.runs += runs_of(*rule);
    need.allowed =
        std::min(need.allowed, processes_for(*rule, limits.processes.value_or(~std::uint64_t{0})));
  }
  for (const auto& [user, need] : users) {
    const std::uint64_t runs = std::min(need.runs, most);
    if (runs < need.allowed) continue;
    lines.push_back("processes: " + runs_text(runs) + (user.empty() ? "" : " as user " + user) +
                    ", each with at least one process; the limit of that user is " +
                    number(need.allowed) + " (ulimit -u, LimitNPROC=, rlimits.nproc)");
  }
}

}  // namespace

std::vector<std::string> shortfalls(const std::vector<ListConfigPtr>& lists,
                                    const SupervisorSettings& supervisor,
                                    const HostLimits& limits) {
  std::uint64_t runs = 0;
  std::uint64_t limited = 0;  // runs with memory_max
  for (const ListConfigPtr& rule : lists) {
    runs += runs_of(*rule);
    if (rule->child->memory_max) limited += runs_of(*rule);
  }
  const std::uint64_t most =
      supervisor.host_concurrency > 0 ? supervisor.host_concurrency : ~std::uint64_t{0};
  runs = std::min(runs, most);
  limited = std::min(limited, runs);

  std::vector<std::string> lines;
  const std::uint64_t own = descriptors_of_host + supervisor.status.size() * descriptors_of_status;
  const std::uint64_t descriptors =
      own + (runs - limited) * descriptors_of_run + limited * descriptors_of_limited_run;
  if (limits.descriptors && descriptors > *limits.descriptors)
    lines.push_back("descriptors: " + runs_text(runs) + " need " + number(descriptors) + " (" +
                    number(descriptors_of_run) + " each, " +
                    (limited > 0 ? number(descriptors_of_limited_run) + " with memory_max, " : "") +
                    number(own) + " for w8yd itself), but the limit of w8yd is " +
                    number(*limits.descriptors) + " (ulimit -Hn, LimitNOFILE=)");
  add_users(lists, most, limits, lines);
  if (limits.group && runs >= limits.group->most)
    lines.push_back("processes: " + runs_text(runs) +
                    ", each with at least one process; the limit of the control group " +
                    limits.group->path + " is " + number(limits.group->most) +
                    " (pids.max, TasksMax=)");
  if (limits.kernel && runs >= *limits.kernel)
    lines.push_back("processes: " + runs_text(runs) +
                    ", each with at least one process; the limit of the kernel is " +
                    number(*limits.kernel) + " (kernel.pid_max, kernel.threads-max)");
  return lines;
}

}  // namespace w8y

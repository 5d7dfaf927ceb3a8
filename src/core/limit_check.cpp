#include "core/limit_check.hpp"

#include <algorithm>
#include <map>

namespace w8y {

namespace {

/// Processes of some lists. Those of single runs end with their run, so that `host_concurrency`
/// limits their sum. Stream processes remain while they are idle.
struct Processes {
  std::uint64_t of_runs = 0;
  std::uint64_t of_streams = 0;

  void add(const ListNeed& list, std::uint64_t max_runs) {
    if (!list.rule->enabled) return;
    const std::uint64_t runs = std::min<std::uint64_t>(list.rule->concurrency, max_runs);
    if (list.streams) {
      of_streams += std::min<std::uint64_t>(list.rule->processes, runs);
    } else {
      of_runs += runs;
    }
  }
  [[nodiscard]] std::uint64_t at_once(std::uint64_t max_runs) const {
    return std::min(of_runs, max_runs) + of_streams;
  }
};

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string processes_text(std::uint64_t processes, const std::string& user = {}) {
  return "processes: up to " + number(processes) + " at once" +
         (user.empty() ? "" : " as user " + user) + ", not counting their children; the limit of ";
}

/// Returns `nproc` of the list if it is set, otherwise that of the host.
std::uint64_t max_processes(const ListConfig& rule, std::uint64_t of_host) {
  for (const ResourceLimit& limit : rule.child->rlimits)
    if (limit.name == "nproc") return limit.value.value_or(~std::uint64_t{0});
  return of_host;
}

struct UserNeed {
  Processes processes;
  std::uint64_t allowed = ~std::uint64_t{0};
};

void add_users(const std::vector<ListNeed>& lists, std::uint64_t most, const HostLimits& limits,
               std::vector<std::string>& lines) {
  std::map<std::string, UserNeed> users;
  for (const ListNeed& list : lists) {
    const ListConfig& rule = *list.rule;
    if (!rule.child->run_as.user && limits.exempt) continue;
    UserNeed& need = users[rule.child->run_as.user.value_or("")];
    need.processes.add(list, most);
    need.allowed =
        std::min(need.allowed, max_processes(rule, limits.processes.value_or(~std::uint64_t{0})));
  }
  for (const auto& [user, need] : users) {
    const std::uint64_t processes = need.processes.at_once(most);
    if (processes < need.allowed) continue;
    lines.push_back(processes_text(processes, user) +
                    (user.empty() ? "the user of w8yd" : "that user") + " is " +
                    number(need.allowed) + " (ulimit -u, LimitNPROC=, rlimits.nproc)");
  }
}

}  // namespace

std::vector<std::string> shortfalls(const std::vector<ListNeed>& lists,
                                    const SupervisorSettings& supervisor,
                                    const HostLimits& limits) {
  const std::uint64_t most =
      supervisor.host_concurrency > 0 ? supervisor.host_concurrency : ~std::uint64_t{0};
  Processes all;
  Processes with_memory_max;
  for (const ListNeed& list : lists) {
    all.add(list, most);
    if (list.rule->child->memory_max) with_memory_max.add(list, most);
  }
  const std::uint64_t processes = all.at_once(most);
  const std::uint64_t limited = with_memory_max.at_once(most);

  std::vector<std::string> lines;
  const std::uint64_t own = descriptors_of_host + supervisor.status.size() * descriptors_of_status;
  const std::uint64_t descriptors = own + (processes - limited) * descriptors_of_process +
                                    limited * descriptors_of_limited_process;
  if (limits.descriptors && descriptors > *limits.descriptors)
    lines.push_back(
        "descriptors: " + number(processes) + " processes at once need " + number(descriptors) +
        " (" + number(descriptors_of_process) + " each, " +
        (limited > 0 ? number(descriptors_of_limited_process) + " with memory_max, " : "") +
        number(own) + " for w8yd itself), but the limit of w8yd is " + number(*limits.descriptors) +
        " (ulimit -Hn, LimitNOFILE=)");
  add_users(lists, most, limits, lines);
  if (limits.group && processes >= limits.group->most)
    lines.push_back(processes_text(processes) + "the control group " + limits.group->path + " is " +
                    number(limits.group->most) + " (pids.max, TasksMax=)");
  if (limits.kernel && processes >= *limits.kernel)
    lines.push_back(processes_text(processes) + "the kernel is " + number(*limits.kernel) +
                    " (kernel.pid_max, kernel.threads-max)");
  return lines;
}

}  // namespace w8y

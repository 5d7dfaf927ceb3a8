#include "app/child_processes.hpp"

#include <utility>

#include "executor/executor_factory.hpp"
#include "loop/background.hpp"

namespace w8y::app {

ChildProcesses::ChildProcesses(loop::Loop& loop, ops::LineLog& log)
    : loop_(loop),
      log_(log),
      orphans_(loop),
      spawns_(loop, process::SpawnServiceOptions{.groups = &groups_}),
      directories_(loop),
      prober_(loop, &groups_, &spawns_),
      retiring_streams_(loop) {}

void ChildProcesses::start(const Config& config) {
  log_groups();
  watch_directories();
  commit(config);
  // libuv creates its threads at first use, and aborts if that fails. Creates them now, before
  // processes can be short.
  loop::in_background(loop_, [] {});
}

void ChildProcesses::log_groups() {
  groups_.on_problem = [this](const std::string& why) {
    log_.warn("control groups unusable, killing by process group", {{"reason", why}});
  };
  if (groups_.left_behind() > 0)
    log_.warn("orphan processes of an earlier w8yd killed", {{"processes", groups_.left_behind()}});
  if (groups_.usable()) {
    log_.debug("using a control group for each run", {{"in", groups_.path()}});
  } else {
    log_.info("no control groups: runs are killed by process group only",
              {{"reason", groups_.problem()}});
  }
}

void ChildProcesses::watch_directories() {
  directories_.on_stays = [this](const std::string& path, const std::string& why) {
    if (why.empty()) {
      log_.info("temporary directory removed", {{"directory", path}});
    } else {
      log_.warn("cannot remove temporary directory, retrying",
                {{"directory", path}, {"reason", why}});
    }
  };
}

void ChildProcesses::commit(const Config& wanted) {
  process::GroupLimits limits;
  for (const auto& [prefix, rule] : wanted.lists) {
    if (rule->child->memory_max) limits.memory_max = rule->child->memory_max;
    if (rule->child->cpu_weight) limits.cpu_weight = rule->child->cpu_weight;
  }
  if (!limits.any()) return;
  const std::string problem = groups_.prepare(limits);
  if (problem == std::exchange(limits_problem_, problem) || problem.empty()) return;
  log_.warn("memory_max and cpu_weight have no effect on this host", {{"reason", problem}});
}

std::shared_ptr<Executor> ChildProcesses::make_executor(const std::string& host,
                                                        const ListConfig& rule, const Caps& caps,
                                                        RunHandler& handler) {
  return executor::make_executor(
      loop_, executor::ExecutorOptions{host, &groups_, &retiring_streams_, &spawns_, &directories_},
      handler, rule, caps);
}

void ChildProcesses::kill_orphans() {
  if (const std::size_t killed = orphans_.kill_all(); killed > 0)
    log_.info("orphan processes killed", {{"processes", killed}});
}

}  // namespace w8y::app

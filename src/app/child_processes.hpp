// Child processes of this host: how they are started, and how orphan processes are killed.
#pragma once

#include <memory>
#include <string>

#include "core/executor.hpp"
#include "core/subsystem.hpp"
#include "executor/probe.hpp"
#include "executor/retiring_streams.hpp"
#include "loop/loop.hpp"
#include "ops/log.hpp"
#include "process/cgroup.hpp"
#include "process/orphans.hpp"
#include "process/spawn_service.hpp"
#include "process/temp_directory.hpp"

namespace w8y::app {

class ChildProcesses final : public Subsystem {
 public:
  ChildProcesses(loop::Loop& loop, ops::LineLog& log);

  /// Logs which limits for runs this host supports.
  void start(const Config& config) override;
  /// Creates the limits of control groups before the first run that needs them.
  void commit(const Config& wanted) override;

  /// `host`: value of W8Y_HOST for children.
  std::shared_ptr<Executor> make_executor(const std::string& host, const ListConfig& rule,
                                          const Caps& caps, RunHandler& handler);
  [[nodiscard]] Prober& prober() { return prober_; }
  [[nodiscard]] process::ControlGroups& groups() { return groups_; }
  /// Stream processes without an executor.
  [[nodiscard]] executor::RetiringStreams& retiring_streams() { return retiring_streams_; }
  /// Kills orphan processes of runs.
  void kill_orphans();

 private:
  void log_groups();
  void watch_directories();

  loop::Loop& loop_;
  ops::LineLog& log_;
  process::Orphans orphans_;
  process::ControlGroups groups_;
  process::SpawnService spawns_;
  process::TempDirectories directories_;
  std::string limits_problem_;  ///< already logged
  executor::ProcessProber prober_;
  executor::RetiringStreams retiring_streams_;
};

}  // namespace w8y::app

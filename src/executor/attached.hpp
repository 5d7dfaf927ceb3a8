// Runs one command as `w8y` does: on the standard streams, in the session and with the environment
// of this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/executor.hpp"
#include "core/timers.hpp"
#include "process/child.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::executor {

/// Executor for one run at a time. The child shares the process group of this process, so that job
/// control works as usual. The kernel kills the child if this process dies. The executor uses
/// `command`, `env_var` and `kill_grace` of the list config.
class AttachedExecutor : public Executor, private process::ChildHandler {
 public:
  AttachedExecutor(loop::Loop& loop, RunHandler& handler);

  /// Prepares the parts of the next run that do not depend on its item. start() does it if
  /// necessary.
  void prepare();

  // Executor
  void start(const Claim& claim, ListConfigPtr rule) override;
  void stop(const RunId& run) override;
  void kill(const RunId& run) override;

  /// Forwards a signal to the child, if there is one.
  void signal(int number);

 private:
  // ChildHandler
  void on_output(process::Stream, std::string_view) override {}
  void on_ended(ProcessEnd end) override;

  void report_started();
  [[nodiscard]] bool runs(const RunId& run) const { return child_ && run == run_; }

  loop::Loop& loop_;
  RunHandler& handler_;
  Timer soon_;
  Timer sweep_;
  RunId run_;
  std::vector<std::string> environment_;  ///< for the next run; empty: not prepared yet
  bool reported_started_ = false;
  std::unique_ptr<process::Child> child_;
  std::vector<std::unique_ptr<process::Child>> dead_;
};

}  // namespace w8y::executor

// Runs one command as `w8y` does: on our own standard streams, in our session, with our
// environment.
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

/// The child shares our process group, so that job control works as without us, and dies with us.
/// Of the rule it uses `command`, `env_var` and `kill_grace`. One run at a time.
class AttachedExecutor : public Executor, private process::ChildHandler {
 public:
  AttachedExecutor(loop::Loop& loop, RunHandler& handler);

  /// Makes ready what the next run needs whatever its item is. start() does where nobody has.
  void prepare();

  // of Executor
  void start(const Claim& claim, ListConfigPtr rule) override;
  void stop(const RunId& run) override;
  void kill(const RunId& run) override;

  /// Passes a signal on to the child, if there is one.
  void signal(int number);

 private:
  // of ChildHandler
  void on_output(process::Stream, std::string_view) override {}
  void on_ended(ProcessEnd end) override;

  void tell_started();
  [[nodiscard]] bool runs(const RunId& run) const { return child_ && run == run_; }

  loop::Loop& loop_;
  RunHandler& handler_;
  Timer soon_;
  Timer sweep_;
  RunId run_;
  std::vector<std::string> environment_;  ///< ours, for the next run; empty: not made yet
  bool told_started_ = false;
  std::unique_ptr<process::Child> child_;
  std::vector<std::unique_ptr<process::Child>> dead_;
};

}  // namespace w8y::executor

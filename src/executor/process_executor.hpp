// Runs items with one process each: `single` executors and plain commands.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/executor.hpp"
#include "core/timers.hpp"
#include "executor/account_cache.hpp"
#include "executor/executor_factory.hpp"
#include "executor/run.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::executor {

/// Executor with one process per run. The list config of each run selects the command line, so a
/// reload may change it.
class ProcessExecutor : public Executor, private RunOwner {
 public:
  ProcessExecutor(loop::Loop& loop, RunHandler& handler, ExecutorOptions options);
  ~ProcessExecutor() override;

  // Executor
  void start(const Claim& claim, ListConfigPtr rule) override;
  void stop(const RunId& run) override;
  void kill(const RunId& run) override;
  [[nodiscard]] std::string tail(const RunId& run) const override;
  [[nodiscard]] bool unused() const override { return working_ == nullptr; }

 private:
  // RunOwner
  void on_run_ended(Run& run) override;

  loop::Loop& loop_;
  RunHandler& handler_;
  const ExecutorOptions options_;
  struct Working {
    explicit Working(TimerQueue& timers) : sweep(timers) {}
    std::unordered_map<RunId, std::unique_ptr<Run>> runs;
    std::vector<std::unique_ptr<Run>> dead;
    AccountCache accounts;
    Timer sweep;
  };
  [[nodiscard]] Run* find(const RunId& run) const;

  std::unique_ptr<Working> working_;  ///< nullptr until the first run
};

}  // namespace w8y::executor

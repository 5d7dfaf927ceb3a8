// Runs items with long-lived processes that run many items each: `stream` executors.
//
// An item waits until a process accepts it: the one with the fewest open runs, or a new one, up to
// `processes`. After ExecutorOptions::timeout (one second) it is handed back, because this host
// cannot run it now. Another host may run it, and no item fails because of a program that does not
// start. If a process ended before it did anything, there is a pause before the next one. The pause
// grows, and the next process gets a single item until it has done something.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/executor.hpp"
#include "core/timers.hpp"
#include "executor/account_cache.hpp"
#include "executor/executor_factory.hpp"
#include "executor/stream_process.hpp"

namespace w8y::executor {

class StreamExecutor : public Executor, private StreamOwner {
 public:
  static constexpr Duration min_pause = std::chrono::milliseconds(100);
  static constexpr Duration max_pause = std::chrono::seconds(30);

  /// Uses the limits of the list config; each run has its own config, with equal limits.
  StreamExecutor(loop::Loop& loop, RunHandler& handler, ExecutorOptions options,
                 const ListConfig& rule, const Caps& caps);
  /// Leaves processes to RetiringStreams, if there is one, so that they can exit by themselves.
  ~StreamExecutor() override;

  // Executor
  void start(const Claim& claim, ListConfigPtr rule) override;
  void stop(const RunId& run) override;
  void kill(const RunId& run) override;
  [[nodiscard]] std::string tail(const RunId& run) const override;
  void retire() override;
  [[nodiscard]] bool unused() const override { return rule_ == nullptr; }
  [[nodiscard]] std::size_t capacity() const override { return processes_most_ * max_open_; }

 private:
  struct Waiting {
    StreamItem item;
    Instant until;
    bool unwanted = false;  ///< the stop of the run was requested
  };

  // StreamOwner
  void on_run_over(StreamProcess& process, const RunId& run, RunEnd&& end) override;
  void on_room(StreamProcess& process) override;
  void on_leaving(StreamProcess& process) override;
  void on_process_ended(StreamProcess& process, StreamEnd&& end) override;

  StreamProcess* find(const RunId& run);
  bool forget_waiting(const RunId& run);
  void check_soon();
  void check_processes();
  void give_out();
  void end_unwanted();
  void end_waiting(const ProcessEnd& why);
  void give_up_overdue();
  StreamProcess* process_for(std::size_t bytes);
  [[nodiscard]] bool may_begin() const;
  StreamProcess* begin();
  void arm();

  loop::Loop& loop_;
  RunHandler& handler_;
  const ExecutorOptions options_;
  const std::size_t processes_most_;
  const std::size_t max_open_;  ///< per process
  ListConfigPtr rule_;          ///< list config of the last run
  AccountCache accounts_;
  bool retired_ = false;

  std::deque<Waiting> waiting_;
  std::vector<std::unique_ptr<StreamProcess>> processes_;
  std::vector<std::unique_ptr<StreamProcess>> dead_;
  unsigned bad_ends_ = 0;  ///< number of failed processes since one was proven()
  std::string last_end_;
  Instant start_at_{};  ///< earliest start of the next process
  Timer check_timer_;   ///< expires at once: check_processes()
  Timer wait_timer_;    ///< next time at which waiting items may proceed
  Timer sweep_timer_;
};

}  // namespace w8y::executor

// The active runs of one list: their timeouts, their progress, their end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/executor.hpp"
#include "core/list_config.hpp"
#include "core/source.hpp"
#include "core/timers.hpp"

namespace w8y {

/// An active run.
struct ActiveRun {
  Claim claim;
  ListConfigPtr rule;  ///< the list config with which it started; a reload never changes it
  std::shared_ptr<Executor> executor;
  int pid = 0;  ///< 0 until it has started
  Instant started{};
  WallTime started_wall{0};
  std::optional<StopReason> stopping;  ///< why it is being stopped; later reasons are ignored
  bool lease_lost = false;
  std::optional<Progress> progress;
  std::size_t bad_lines = 0;
};

/// Owner of a table of runs, called by the table. `run_over` is the last call for a run, which is
/// no longer in the table by then.
class ActiveRunsOwner {
 public:
  virtual ~ActiveRunsOwner() = default;
  virtual void run_started(const ActiveRun& run) = 0;
  virtual void run_message(const ActiveRun& run, const Message& message) = 0;
  virtual void run_logged(const ActiveRun& run, std::string_view line, bool cut) = 0;
  virtual void run_event(const RunEvent& event) = 0;
  virtual void process_changed(int pid, const ProcessEvent& news) = 0;
  virtual void lines_read(const LineCounts& read) = 0;
  virtual void run_over(EndedRun&& run, Duration took) = 0;
};

/// The active runs of one poller.
class ActiveRuns final : public RunHandler {
 public:
  /// Minimum interval between two progress reports of a run. The last progress before the end of a
  /// run is always reported.
  static constexpr Duration progress_pace = std::chrono::milliseconds(100);

  ActiveRuns(const Clock& clock, TimerQueue& timers, ActiveRunsOwner& owner)
      : clock_(&clock), timers_(&timers), owner_(&owner) {}
  /// An empty table for an idle list. No run is started in it.
  ActiveRuns() = default;
  ~ActiveRuns() override;

  void start(Claim&& claim, ListConfigPtr rule, std::shared_ptr<Executor> executor);
  /// Sends SIGTERM, and SIGKILL after `kill_grace`. Returns false if there is no such run.
  bool stop(const RunId& run, StopReason reason);
  void stop_all(StopReason reason);
  void kill(const RunId& run, StopReason reason);
  void kill_all(StopReason reason);
  void record_lease(const RunId& run, bool lost);

  [[nodiscard]] std::size_t size() const { return table_ ? table_->runs.size() : 0; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Returns true if no run was started since construction.
  [[nodiscard]] bool unused() const { return table_ == nullptr; }
  [[nodiscard]] const ActiveRun* find(const RunId& run) const;
  /// Calls `visit` for each run, the oldest first.
  void each(const std::function<void(const ActiveRun&)>& visit) const;

 private:
  /// A run with the state that only this table needs.
  struct Entry : ActiveRun {
    explicit Entry(TimerQueue& timers) : timeout(timers), silence(timers), progress_due(timers) {}
    Timer timeout;
    Timer silence;
    Timer progress_due;
    std::optional<Instant> progress_sent;
    bool progress_waiting = false;
  };

  void on_started(const RunId& run, int pid) override;
  void on_message(const RunId& run, Message&& message) override;
  void on_log(const RunId& run, std::string_view line, bool cut) override;
  void on_ended(const RunId& run, RunEnd&& end) override;
  void on_lines(const LineCounts& read) override { owner_->lines_read(read); }
  void on_process(int pid, const ProcessEvent& news) override {
    owner_->process_changed(pid, news);
  }

  [[nodiscard]] Entry* entry(const RunId& run) const;
  [[nodiscard]] std::vector<Entry*> in_order() const;
  void start_timeouts(Entry& run);
  void sign_of_life(Entry& run);
  void send_progress(Entry& run);
  void progressed(Entry& run, const Progress& progress);

  const Clock* clock_ = nullptr;
  TimerQueue* timers_ = nullptr;
  ActiveRunsOwner* owner_ = nullptr;
  struct Table {
    explicit Table(TimerQueue& timers) : sweep(timers) {}
    std::unordered_map<RunId, Entry> runs;
    /// Executors of ended runs. Destroyed by a timer, because a run can end inside a callback of
    /// its executor.
    std::vector<std::shared_ptr<Executor>> used;
    Timer sweep;
  };
  std::unique_ptr<Table> table_;  ///< nullptr until the first run
};

}  // namespace w8y

// All lists of a host: start, reload, quiet, drain.
//
//   idle       before the first apply()
//   running    serves its lists
//   reloading  serves its lists, and probes executors for the next configuration
//   draining   takes nothing more; what runs has until the deadline
//   drained    nothing is left: the program may end
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/list_config.hpp"
#include "core/reload_plan.hpp"
#include "core/served_lists.hpp"

namespace w8y {

enum class SupervisorState { idle, running, reloading, draining, drained };

struct SupervisorHost {
  const Clock& clock;
  TimerQueue& timers;
  ServedListObserver& events;
  PollerFactory& factory;
  std::uint64_t seed = 1;  ///< spreads the polls of hosts
};

class Supervisor {
 public:
  explicit Supervisor(const SupervisorHost& host);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  using Applied = std::function<void(const ReloadPlan& plan)>;
  /// Probes what is new, changed or was refused; then compares and applies, all at once; then calls
  /// `applied`. Not while reloading() (the caller reads the file again afterwards). `new_sources`:
  /// every list gets a new source, because the connection changed.
  void apply(ConfigPtr config, bool new_sources, Applied applied);
  [[nodiscard]] bool reloading() const { return state_ == SupervisorState::reloading; }

  void set_quiet(bool quiet);
  [[nodiscard]] bool quiet() const { return quiet_; }
  /// Holds the lists that claim from Redis: they start no runs and have no upkeep. Empty: no
  /// longer.
  void set_hold(const std::string& reason);
  /// Why this list is held; empty if it is not.
  [[nodiscard]] std::string hold(const ListConfig& rule) const;
  /// No new runs; running ones get until `drain_timeout`, then SIGTERM, `kill_grace`, SIGKILL. A
  /// second call skips the wait, a third one the grace. `drained` is called once, from a timer.
  void drain(std::function<void()> drained);
  /// SIGTERM to a run wherever it is. False: this host has no such run.
  bool cancel(const RunId& run);
  /// As Poller::run_item(), of one of its lists.
  void run_item(const std::string& prefix, const Item& item, const Poller::RunItemDone& then);
  /// So many hosts are in the fleet: lists at rest are looked at less often where there are many.
  void share_polls_with(std::size_t hosts) { idle_.share_with(hosts); }
  /// How long a list at rest waits for its turn at most.
  [[nodiscard]] Duration max_poll_wait() const { return idle_.longest_turn(); }

  [[nodiscard]] SupervisorState state() const { return state_; }
  [[nodiscard]] const Config& config() const { return *config_; }
  /// The same, to be looked at by other threads too.
  [[nodiscard]] const ConfigPtr& shared_config() const { return config_; }
  [[nodiscard]] const std::string& config_hash() const { return config_->hash; }
  [[nodiscard]] unsigned generation() const { return generation_; }
  [[nodiscard]] const ServedLists& lists() const { return lists_; }
  [[nodiscard]] const std::vector<std::unique_ptr<ServedList>>& closing() const { return closing_; }
  [[nodiscard]] const SlotPool& slots() const { return slots_; }
  [[nodiscard]] std::size_t running() const;
  /// How long claims have been out while none was made or answered; 0: none is out.
  [[nodiscard]] Duration claims_unanswered_for() const;

 private:
  struct Pending;

  void probe(const ListConfigPtr& rule, Prober::Answer answer);
  void probed();
  void commit();
  void close_missing();
  void open_some();
  void decide(const std::string& prefix, const ProbeResult* answer);
  void retry_refused();
  void arm_retry();
  void probe_again(const std::string& prefix);
  void record_missing_prerequisite(const ListConfigPtr& rule, const std::string& reason);
  void refuse_without_prerequisites();
  void check_drained();

  SupervisorHost host_;
  SlotPool slots_;
  IdlePolls idle_;
  const ListHost list_host_;
  SupervisorState state_ = SupervisorState::idle;
  ConfigPtr config_ = std::make_shared<const Config>();
  unsigned generation_ = 0;
  unsigned serial_ = 0;  ///< of calls of apply()
  bool quiet_ = false;
  std::string hold_;
  ServedLists lists_;
  std::vector<std::unique_ptr<ServedList>> closing_;
  std::unique_ptr<Pending> pending_;
  unsigned drain_calls_ = 0;
  std::function<void()> drained_;
  /// Rules whose runs could not be started because this host lacks something, and what that is.
  std::map<ListConfigPtr, std::string> lacking_;
  std::deque<std::string> opening_;  ///< made, and not begun yet
  Timer open_timer_;
  Timer retry_timer_;
  Timer lack_timer_;
  Timer drain_timer_;
  Timer check_timer_;
  Instant idle_since_{};  ///< draining: since when no run is left
};

}  // namespace w8y

// All lists of a host: start, reload, quiet, drain.
//
// - `idle` – before the first apply().
// - `running` – serves its lists.
// - `reloading` – serves its lists, and probes executors for the next config.
// - `draining` – claims nothing more; active runs continue until the deadline.
// - `drained` – no runs are left; the program may exit.
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
#include "core/served_list.hpp"

namespace w8y {

/// Lists of a host by prefix.
using ServedLists = std::map<std::string, std::unique_ptr<ServedList>, std::less<>>;

enum class SupervisorState { idle, running, reloading, draining, drained };

struct SupervisorHost {
  const Clock& clock;
  TimerQueue& timers;
  ServedListObserver& events;
  PollerFactory& factory;
  std::uint64_t seed = 1;  ///< of random numbers, so that hosts poll at different times
};

class Supervisor {
 public:
  explicit Supervisor(const SupervisorHost& host);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  using Applied = std::function<void(const ReloadPlan& plan)>;
  /// Probes lists that are new, changed or ineligible, then applies all changes at once and calls
  /// `applied`. Must not be called while reloading(); the caller reads the file again afterwards.
  /// `new_sources`: every list gets a new source, because the connection changed.
  void apply(ConfigPtr config, bool new_sources, Applied applied);
  [[nodiscard]] bool reloading() const { return state_ == SupervisorState::reloading; }

  void set_quiet(bool quiet);
  [[nodiscard]] bool quiet() const { return quiet_; }
  /// Holds the lists that claim from Redis: they start no runs and do no maintenance. An empty
  /// `reason` ends this.
  void set_hold(const std::string& reason);
  /// Returns why this list is held; empty if it is not.
  [[nodiscard]] std::string hold(const ListConfig& rule) const;
  /// Starts no new runs. Active runs may continue for `drain_timeout`, then get SIGTERM and, after
  /// `kill_grace`, SIGKILL. A second call skips `drain_timeout`, a third call skips `kill_grace`.
  /// `drained` is called once, from a timer.
  void drain(std::function<void()> drained);
  /// Sends SIGTERM to a run of any list. Returns false if this host has no such run.
  bool cancel(const RunId& run);
  /// As Poller::run_item(), for one list.
  void run_item(const std::string& prefix, const Item& item, const Poller::RunItemDone& then);
  /// Sets the number of hosts in the fleet: each host polls idle lists less often if there are
  /// many.
  void share_polls_with(std::size_t hosts) { idle_.share_with(hosts); }
  /// Returns the maximum time that an idle list waits for its poll.
  [[nodiscard]] Duration max_poll_wait() const { return idle_.longest_turn(); }

  [[nodiscard]] SupervisorState state() const { return state_; }
  [[nodiscard]] const Config& config() const { return *config_; }
  /// The same, for use by other threads as well.
  [[nodiscard]] const ConfigPtr& shared_config() const { return config_; }
  [[nodiscard]] const std::string& config_hash() const { return config_->hash; }
  [[nodiscard]] unsigned generation() const { return generation_; }
  [[nodiscard]] const ServedLists& lists() const { return lists_; }
  [[nodiscard]] const std::vector<std::unique_ptr<ServedList>>& closing() const { return closing_; }
  [[nodiscard]] const SlotPool& slots() const { return slots_; }
  [[nodiscard]] std::size_t running() const;
  /// Returns how long claims have been in flight without a further claim or reply; 0 if none is in
  /// flight.
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
  unsigned serial_ = 0;  ///< number of calls of apply()
  bool quiet_ = false;
  std::string hold_;
  ServedLists lists_;
  std::vector<std::unique_ptr<ServedList>> closing_;
  std::unique_ptr<Pending> pending_;
  unsigned drain_calls_ = 0;
  std::function<void()> drained_;
  /// List configs whose runs could not be started because a prerequisite is missing on this host,
  /// and its name.
  std::map<ListConfigPtr, std::string> lacking_;
  std::deque<std::string> opening_;  ///< created, and not served yet
  Timer open_timer_;
  Timer retry_timer_;
  Timer lack_timer_;
  Timer drain_timer_;
  Timer check_timer_;
  Instant idle_since_{};  ///< while draining: time since which there are no runs
};

}  // namespace w8y

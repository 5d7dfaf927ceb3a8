// One list of the config on this host: whether this host can serve it, and the poller that does.
//
// - `probing` – its executor is being probed.
// - `ineligible` – this host cannot serve it, which is normal in a fleet; probed again
//   periodically.
// - `serving` – a poller claims its items.
// - `closing` – removed from the config, or the host drains; active runs finish.
// - `closed` – no poller and no run is left on this host.
//
// A poller that is replaced (a new source, a new connection, another executor) retires: it claims
// nothing more, and is deleted when its runs have ended.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/caps.hpp"
#include "core/copy_on_write.hpp"
#include "core/idle_polls.hpp"
#include "core/list_maintenance.hpp"
#include "core/poller.hpp"

namespace w8y {

enum class ServingState { probing, ineligible, serving, closing, closed };

/// Makes the source, the executor and the maintenance of a list.
class PollerFactory {
 public:
  virtual ~PollerFactory() = default;
  /// Makes a source. `idle` is the scheduler that all sources of a host share.
  virtual std::unique_ptr<Source> make_source(const ListConfigPtr& rule, IdlePolls& idle,
                                              SourceHandler& handler) = 0;
  virtual std::shared_ptr<Executor> make_executor(const ListConfigPtr& rule, const Caps& caps,
                                                  RunHandler& handler) = 0;
  /// Returns nullptr if this kind of work needs no maintenance.
  virtual std::unique_ptr<ListMaintenance> make_maintenance(const ListConfigPtr& /*rule*/,
                                                            IdlePolls& /*idle*/,
                                                            ListMaintenanceHandler& /*handler*/) {
    return nullptr;
  }
  /// Returns why a program with these capabilities cannot serve the list (`lacks "gpu"`); empty if
  /// it can.
  virtual std::string why_not(const ListConfig& rule, const Caps& caps) = 0;
  virtual Prober& prober() = 0;
};

/// Observer of a host's lists, and of their runs and pollers.
class ServedListObserver : public PollerObserver {
 public:
  /// Called once per change of the refusal, not for each probe with the same result.
  virtual void list_refused(const ListConfig& rule, const Ineligibility& refusal) = 0;
  virtual void list_served(const ListConfig& rule, const Caps& caps) = 0;
  /// Called with the error, or with an empty `why` when the maintenance succeeds again.
  virtual void maintenance_changed(const ListConfig& rule, const std::string& why) = 0;
};

struct ListHost {
  const Clock& clock;
  TimerQueue& timers;
  SlotPool& slots;
  IdlePolls& idle;
  ServedListObserver& events;
  PollerFactory& factory;
  /// Called when a run could not be started because a prerequisite is missing on this host. Called
  /// inside the list, so it must not call refuse() immediately.
  std::function<void(const ListConfigPtr& rule, const std::string& reason)> lacking;
};

class ServedList final : private PollerOwner, private ListMaintenanceHandler {
 public:
  /// `host` must outlive the list.
  ServedList(const ListHost& host, ListConfigPtr rule);
  ~ServedList() override;

  /// Applies the result of a probe, with the list config that was probed.
  void decide(ListConfigPtr rule, const ProbeResult& answer);
  /// Applies a changed list config for which the last result of the probe is still valid.
  void update_config(ListConfigPtr rule);
  /// Makes the list ineligible until the next decide(): a prerequisite was missing for a run
  /// although the probe succeeded. `program`: the cause, which refusal() names;
  /// empty: the host is the cause.
  void refuse(const Ineligibility& refusal, const std::string& program = {});
  void set_quiet(bool quiet);
  /// Sets whether the list is held. A held list starts no runs, as if it were quiet, and does no
  /// maintenance.
  void set_held(bool held);
  /// Replaces the poller, for example to make its source on a new connection.
  void renew();
  void close();
  /// Reopens a list that is closing: it is probing until decide(). Its active runs keep their
  /// slots.
  void reopen(bool quiet, bool held);
  void stop_runs(StopReason reason);
  void kill_runs(StopReason reason);
  bool cancel(const RunId& run);
  /// As Poller::run_item().
  void run_item(const Item& item, const Poller::RunItemDone& then);

  [[nodiscard]] const ListConfig& config() const { return *config_; }
  [[nodiscard]] ServingState state() const { return state_; }
  /// Returns why the host is ineligible. Names the program if its probe failed.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] const ListConfigPtr& shared_config() const { return config_; }
  [[nodiscard]] const Caps& caps() const { return *caps_; }
  /// Returns nullptr unless serving.
  [[nodiscard]] const Poller* poller() const { return poller_.get(); }
  [[nodiscard]] const std::vector<std::unique_ptr<Poller>>& retired() const { return retired_; }
  [[nodiscard]] std::size_t running() const;
  /// Returns the sum over all current and earlier pollers.
  [[nodiscard]] RunCounters counters() const;
  /// Returns the number of settlements that Redis has not confirmed yet.
  [[nodiscard]] std::size_t unsettled() const;
  /// Returns true if the list has had a run on this host since the program's start, or has claimed
  /// an item.
  [[nodiscard]] bool has_run() const;
  /// Returns the sum over all current and earlier pollers; nullopt if none had a run.
  [[nodiscard]] std::optional<RunStats> run_stats() const;

 private:
  // PollerOwner
  std::shared_ptr<Executor> executor_for(Poller& poller, const ListConfigPtr& rule) override {
    return host_.factory.make_executor(rule, *caps_, poller.run_handler());
  }
  void host_lacks(const Poller& poller, const std::string& reason) override;
  void poller_changed(const Poller& poller) override;

  // ListMaintenanceHandler
  void on_maintenance_error(const std::string& why) override;
  void on_enqueued(Duration late) override;

  void set_config(ListConfigPtr rule);
  void renew_maintenance();
  void renew_poller();
  void serve();
  void retire();
  void sweep();
  void update_reserved();

  const ListHost& host_;
  ListConfigPtr config_;
  std::string refusal_;
  std::unique_ptr<ListMaintenance> maintenance_;  ///< nullptr if disabled, held or not needed
  CopyOnWrite<Caps> caps_;                        ///< empty for most lists
  std::unique_ptr<Poller> poller_;
  std::vector<std::unique_ptr<Poller>> retired_;
  struct Totals {
    RunCounters counters;
    RunStats run_stats;
  };
  std::unique_ptr<Totals> totals_;  ///< of deleted pollers; nullptr if none had a run
  ServingState state_ = ServingState::probing;
  bool quiet_ = false;
  bool held_ = false;
  Timer sweep_;
};

}  // namespace w8y

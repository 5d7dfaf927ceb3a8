// One list of the config on this host: can it be served here, and who serves it now.
//
//   probing  its executor is asked what it can do
//   refused  this host can't serve it, which is normal in a fleet; asked again now and then
//   serving  a poller takes its items
//   closing  it is gone from the config, or the host shuts down: what runs finishes
//   closed   nothing of it is left here
//
// A poller whose place another takes (a new source, a new connection, an executor that is gone)
// retires: it takes nothing more, and is swept when its runs are over.
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

/// Makes the ends that a poller ties together.
class PollerFactory {
 public:
  virtual ~PollerFactory() = default;
  /// `idle`: the budget that all sources of a host share.
  virtual std::unique_ptr<Source> make_source(const ListConfigPtr& rule, IdlePolls& idle,
                                              SourceHandler& handler) = 0;
  virtual std::shared_ptr<Executor> make_executor(const ListConfigPtr& rule, const Caps& caps,
                                                  RunHandler& handler) = 0;
  /// nullptr: this kind of work needs none.
  virtual std::unique_ptr<ListMaintenance> make_maintenance(const ListConfigPtr& /*rule*/,
                                                            IdlePolls& /*idle*/,
                                                            ListMaintenanceHandler& /*handler*/) {
    return nullptr;
  }
  /// Whether a program with these caps can serve the rule: empty, or why not (`lacks "gpu"`).
  virtual std::string why_not(const ListConfig& rule, const Caps& caps) = 0;
  virtual Prober& prober() = 0;
};

/// Who watches a host's lists: runs and pollers as PollerObserver, and the lists themselves.
class ServedListObserver : public PollerObserver {
 public:
  /// Once per change: not for each probe that says the same again.
  virtual void list_refused(const ListConfig& rule, const Ineligibility& refusal) = 0;
  virtual void list_served(const ListConfig& rule, const Caps& caps) = 0;
  /// `why` is empty when it can be done again.
  virtual void maintenance_changed(const ListConfig& rule, const std::string& why) = 0;
};

struct ListHost {
  const Clock& clock;
  TimerQueue& timers;
  SlotPool& slots;
  IdlePolls& idle;
  ServedListObserver& events;
  PollerFactory& factory;
  /// A run could not be started because this host lacks what its rule names. Called from inside
  /// the list: refuse it later, not now.
  std::function<void(const ListConfigPtr& rule, const std::string& reason)> lacking;
};

class ServedList final : private PollerObserver, private ListMaintenanceHandler {
 public:
  /// The host outlives its lists.
  ServedList(const ListHost& host, ListConfigPtr rule);
  ~ServedList() override;

  /// The answer to its probe, from whoever asked; a changed rule comes with it.
  void decide(ListConfigPtr rule, const ProbeResult& answer);
  /// A changed rule whose answer would be the one it has.
  void update_config(ListConfigPtr rule);
  /// A run has met what the probe did not, or what has vanished since: until the next answer.
  void refuse(const Ineligibility& refusal);
  void set_quiet(bool quiet);
  /// While held, it starts no runs, as while it is quiet, and has no upkeep.
  void set_held(bool held);
  /// Replaces the poller, for instance because sources are to be made on a new connection.
  void renew();
  void close();
  /// Closing, and wanted again: probing, until decide(). What still runs takes its places.
  void reopen(bool quiet, bool held);
  void stop_runs(StopReason reason);
  void kill_runs(StopReason reason);
  bool cancel(const RunId& run);
  /// As Poller::run_item().
  void run_item(const Item& item, const Poller::RunItemDone& then);

  [[nodiscard]] const ListConfig& config() const { return *config_; }
  [[nodiscard]] ServingState state() const { return state_; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] const ListConfigPtr& shared_config() const { return config_; }
  [[nodiscard]] const Caps& caps() const { return *caps_; }
  /// nullptr unless serving.
  [[nodiscard]] const Poller* poller() const { return poller_.get(); }
  [[nodiscard]] const std::vector<std::unique_ptr<Poller>>& retired() const { return retired_; }
  [[nodiscard]] std::size_t running() const;
  /// Of all pollers it ever had here.
  [[nodiscard]] RunCounters counters() const;
  /// Ends of runs that Redis has not confirmed yet.
  [[nodiscard]] std::size_t unsettled() const;
  /// It has had a run on this host, or was about to, since the program's start.
  [[nodiscard]] bool has_run() const;
  /// The same; nullopt: none of them had a run.
  [[nodiscard]] std::optional<RunStats> run_stats() const;

 private:
  std::shared_ptr<Executor> executor_for(Poller& poller, const ListConfigPtr& rule) override {
    return host_.factory.make_executor(rule, *caps_, poller.run_handler());
  }
  void run_started(const Poller& poller, const ActiveRun& run) override;
  void run_message(const Poller& poller, const ActiveRun& run, const Message& message) override;
  void run_logged(const Poller& poller, const ActiveRun& run, std::string_view line,
                  bool cut) override;
  void run_ended(const Poller& poller, const EndedRun& run) override;
  void process_changed(const Poller& poller, int pid, const ProcessEvent& news) override;
  void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) override;
  void state_changed(Poller& poller) override;
  void shortage_changed(const Poller& poller) override;
  void host_lacks(const Poller& poller, const std::string& reason) override;
  void item_quarantined(const Poller& poller, const DisplayItem& item,
                        const std::string& why) override;
  void settlement_abandoned(const Poller& poller, const RunId& run,
                            const std::string& why) override;
  void write_error_changed(const Poller& poller) override;

  // of ListMaintenanceHandler
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
  std::unique_ptr<ListMaintenance> maintenance_;  ///< nullptr: not enabled, held, or not needed
  CopyOnWrite<Caps> caps_;                        ///< most have none to speak of
  std::unique_ptr<Poller> poller_;
  std::vector<std::unique_ptr<Poller>> retired_;
  struct Totals {
    RunCounters counters;
    RunStats run_stats;
  };
  std::unique_ptr<Totals> totals_;  ///< of pollers that were swept; nullptr: none had a run
  ServingState state_ = ServingState::probing;
  bool quiet_ = false;
  bool held_ = false;
  Timer sweep_;
};

}  // namespace w8y

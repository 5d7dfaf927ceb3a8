// Connects one source to one executor under one concurrency limit.
//
// The cycle is: slot, claim, run, settlement. After each event (a reply to a claim, the end of a
// run, a free slot, a wake-up) the poller calls advance(), which determines its state:
//
// - `held` – starts nothing: quiet, disabled, limit 0, or a prerequisite is missing on this host.
// - `waiting` – below its own limit; waits for a slot of the host.
// - `claiming` – a claim is in flight.
// - `full` – has its maximum number of runs.
// - `resting` – nothing to claim; waits until the source allows a claim.
// - `starved` – this host cannot start processes; waits until it may retry.
// - `draining` – claims nothing more; its runs finish.
// - `drained` – has no runs and no pending settlements, permanently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/active_runs.hpp"
#include "core/counters.hpp"
#include "core/executor.hpp"
#include "core/list_config.hpp"
#include "core/shortage_breaker.hpp"
#include "core/slot_pool.hpp"
#include "core/source.hpp"
#include "core/status.hpp"
#include "core/timers.hpp"

namespace w8y {

enum class PollerState : std::uint8_t {
  held,
  waiting,
  claiming,
  full,
  idle,
  starved,
  draining,
  drained
};

class Poller;

/// The list of a poller. Called inside the poller, so it must not destroy the poller.
class PollerOwner {
 public:
  virtual ~PollerOwner() = default;
  /// Called when a poller without an executor becomes active. Returns the executor for its runs.
  virtual std::shared_ptr<Executor> executor_for(Poller& poller, const ListConfigPtr& rule) = 0;
  /// Called when a run could not be started because a prerequisite is missing on this host. The
  /// poller claims nothing more until it has another list config.
  virtual void host_lacks(const Poller& poller, const std::string& reason) = 0;
  /// Called when a run has ended, and when the poller is drained.
  virtual void poller_changed(const Poller& poller) = 0;
};

/// Observer of pollers. Called inside the poller, so it must not destroy the poller.
class PollerObserver {
 public:
  virtual ~PollerObserver() = default;
  virtual void run_started(const Poller& poller, const ActiveRun& run) = 0;
  virtual void run_message(const Poller& poller, const ActiveRun& run, const Message& message) = 0;
  virtual void run_logged(const Poller& poller, const ActiveRun& run, std::string_view line,
                          bool cut) = 0;
  virtual void run_ended(const Poller& poller, const EndedRun& run) = 0;
  virtual void process_changed(const Poller& /*poller*/, int /*pid*/,
                               const ProcessEvent& /*news*/) {}
  virtual void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) = 0;
  /// Called when an item was quarantined.
  virtual void item_quarantined(const Poller& /*poller*/, const DisplayItem& /*item*/,
                                const std::string& /*why*/) {}
  /// Called when a settlement, or a part of it, will never be written to Redis.
  virtual void settlement_abandoned(const Poller& /*poller*/, const RunId& /*run*/,
                                    const std::string& /*why*/) {}
  /// Called when the poller's unwritten() has changed.
  virtual void write_error_changed(const Poller& /*poller*/) {}
  virtual void state_changed(Poller& poller) = 0;
  /// Called when shortage() starts and when it ends: once each, regardless of the number of runs
  /// that cannot be started.
  virtual void shortage_changed(const Poller& poller) = 0;
};

/// Result of an operator's command to run an item.
struct RunItemResult {
  enum class Result {
    started,          ///< `run` is its ID
    refused,          ///< no host may run it; `why` is the reason
    not_on_this_host  ///< another host may run it
  };
  Result result = Result::not_on_this_host;
  RunId run;
  std::string why;
};

/// Objects that all pollers of a host share.
struct PollerHost {
  const Clock& clock;
  TimerQueue& timers;
  SlotPool& slots;
  PollerObserver& events;
  PollerOwner* owner = nullptr;  ///< nullptr if the poller gets its executor by begin()
};

class Poller final : private SourceHandler,
                     private ActiveRunsOwner,
                     private ShortageBreaker::Owner,
                     private SlotPool::User {
 public:
  Poller(const PollerHost& host, ListConfigPtr rule);
  ~Poller() override;

  /// Handlers for the source and the executor, which are made before begin() starts the poller. A
  /// poller without an executor gets one from PollerHost::owner when it becomes active, and
  /// deletes it when it is idle.
  SourceHandler& source_handler() { return *this; }
  RunHandler& run_handler() { return work().runs; }
  void begin(std::unique_ptr<Source> source, std::shared_ptr<Executor> executor = nullptr);

  /// Sets a changed list config, for the next claim and the next run. An active run keeps its list
  /// config.
  void use(ListConfigPtr rule, std::shared_ptr<Executor> executor = nullptr);
  /// Sets whether the poller starts no new runs.
  void set_quiet(bool quiet);
  /// Sets the number of runs of earlier pollers, which count towards its limit.
  void set_reserved(std::size_t runs);
  /// Sets the maximum number of runs in total, for the one-item wrapper. 0 = no limit.
  void set_budget(std::uint32_t runs) { budget_ = runs; }
  /// Sets whether it may prefetch items for very short runs; see prefetch_count().
  void allow_ahead(bool allow) { ahead_allowed_ = allow; }
  void drain();
  void stop_runs(StopReason reason) {
    if (work_) work_->runs.stop_all(reason);
  }
  void kill_runs(StopReason reason) {
    if (work_) work_->runs.kill_all(reason);
  }
  /// Sends SIGTERM, and SIGKILL later; the run is cancelled. Returns false if this poller has no
  /// such run.
  bool cancel(const RunId& run) {
    return work_ != nullptr && work_->runs.stop(run, StopReason::cancelled);
  }

  using RunItemDone = std::function<void(const RunItemResult&)>;
  /// Claims the item now, even if it is delayed, and runs it. `then` is called once, inside this
  /// call or from the loop. It is not called if the poller is destroyed first.
  void run_item(const Item& item, const RunItemDone& then);

  [[nodiscard]] const ListConfig& rule() const { return *rule_; }
  [[nodiscard]] PollerState state() const { return state_; }
  [[nodiscard]] bool drained() const { return state_ == PollerState::drained; }
  /// Returns how the source ended its last claim.
  [[nodiscard]] ClaimEnd last_claim() const { return last_claim_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }
  [[nodiscard]] bool claim_is_out() const { return claim_out_; }
  /// Returns the time at which the claim in flight was sent or, if there is none, at which the last
  /// reply was received. Instant{} before the first claim.
  [[nodiscard]] Instant last_claim_at() const {
    return claim_out_ ? claimed_at_ : claimed_at_ + claim_took_;
  }
  /// Returns why Redis refuses parts of settlements other than the lock. Empty if it refuses
  /// nothing, or refuses claims as well.
  [[nodiscard]] const std::string& unwritten() const { return past().unwritten; }
  [[nodiscard]] const ActiveRuns& runs() const { return work_ ? work_->runs : none().runs; }
  [[nodiscard]] const RunCounters& counters() const { return past().counters; }
  [[nodiscard]] const RunStats& measures() const { return past().measures; }
  /// Returns the number of settlements that Redis has not confirmed yet.
  [[nodiscard]] std::size_t unsettled() const { return source_ ? source_->unsettled() : 0; }
  /// Returns the runs with a pending settlement, and perhaps some whose settlement Redis has just
  /// confirmed.
  [[nodiscard]] std::vector<RunStatus> settling() const;
  /// Returns true if it has ever had a run, or has claimed an item.
  [[nodiscard]] bool has_past() const { return past_ != nullptr; }
  [[nodiscard]] const ShortageBreaker& shortage() const {
    return work_ ? work_->shortage : none().shortage;
  }
  /// Returns the error of the last run that did not succeed; empty if there was none.
  [[nodiscard]] const std::string& last_problem() const { return past().last_problem; }
  [[nodiscard]] WallTime last_problem_at() const { return past().last_problem_at; }

 private:
  /// How long prefetched claims are kept here before they are handed back.
  static constexpr Duration ahead_timeout = std::chrono::milliseconds(100);

  /// Results of its runs.
  struct Totals {
    RunCounters counters;
    RunStats measures;
    std::string last_problem;
    WallTime last_problem_at{0};
    std::string unwritten;
    std::list<RunStatus> settling;  ///< the newest last; at least unsettled()
  };
  /// Items that are claimed before a slot is free for them.
  struct Prefetch {
    explicit Prefetch(TimerQueue& timers) : timer(timers) {}
    std::optional<Duration> mean_run;  ///< moving average, weighted towards recent runs
    std::vector<Claim> claims;         ///< the oldest last; empty in an idle list
    Timer timer;
    Instant until{};  ///< handed back at this time if none of them was started
    /// How many of `claims` may wait for a slot after the reply to the last claim.
    std::size_t most = 0;
  };
  /// State for claims and runs. Created when the list becomes active, and deleted when it is idle
  /// unless it had a run. With ten thousand idle lists this saves memory.
  struct Work {
    Work() = default;
    explicit Work(Poller& poller)
        : runs(poller.host_.clock, poller.host_.timers, poller),
          shortage(poller.host_.clock, poller.host_.timers, poller) {}
    /// Returns true if a new object would have the same state.
    [[nodiscard]] bool unused() const;
    /// Returns the number of slots that it has acquired, for runs and for claims.
    [[nodiscard]] std::size_t places() const {
      return runs.size() + claim_places + next_places + item_claims;
    }

    std::shared_ptr<Executor> executor;  ///< nullptr: ready() makes one
    bool made_executor = false;          ///< made by ready(), not given by a caller
    ActiveRuns runs;
    ShortageBreaker shortage;
    std::size_t claim_places = 0;  ///< slots acquired for the claim in flight
    std::size_t next_places = 0;   ///< slots for the next claim; 0 unless a claim is in flight
    std::size_t item_claims = 0;   ///< claims of single items in flight; each has a slot
    /// Items to run as soon as it is known whether the claim in flight leaves a free slot.
    std::vector<std::pair<Item, RunItemDone>> items_wanted;
    std::unique_ptr<Prefetch> ahead;  ///< nullptr until the end of the first run
    std::size_t placed = 0;           ///< number of runs that started at the last reply
  };
  /// The state of an idle list.
  static const Work& none();
  Work& work();
  /// Returns work() with an executor.
  Work& ready();
  void free_working_state();
  [[nodiscard]] const Totals& past() const;
  Totals& past();
  RunCounters& count() { return past().counters; }

  // SourceHandler
  void on_claimed(ClaimReply&& reply) override;
  void on_lease_lost(const RunId& run) override;
  void on_lease_back(const RunId& run) override;
  void on_lease_expiring(const RunId& run) override;
  void on_may_claim() override { advance(); }
  void on_given_up(const RunId& run, const std::string& why) override {
    host_.events.settlement_abandoned(*this, run, why);
  }
  void on_unwritten(const std::string& why) override;
  void on_quarantined(const DisplayItem& item, const std::string& why) override {
    host_.events.item_quarantined(*this, item, why);
  }
  void on_all_settled() override;
  // ActiveRunsOwner
  void run_started(const ActiveRun& run) override;
  void run_message(const ActiveRun& run, const Message& message) override;
  void run_logged(const ActiveRun& run, std::string_view line, bool cut) override;
  void run_event(const RunEvent& event) override;
  void process_changed(int pid, const ProcessEvent& news) override;
  void lines_read(const LineCounts& read) override { past().measures.lines += read; }
  void run_over(EndedRun&& run, Duration took) override;
  // ShortageBreaker::Owner
  void may_try() override { advance(); }
  void shortage_over() override { host_.events.shortage_changed(*this); }
  // SlotPool::User
  void on_slot_free() override;

  [[nodiscard]] std::size_t ahead() const {
    return work_ && work_->ahead ? work_->ahead->claims.size() : 0;
  }
  Prefetch& keep_ahead();
  void keep_ended(const EndedRun& run);
  void record_run_time(Duration took);

  void advance();
  void set_state(PollerState state);
  [[nodiscard]] bool may_take() const;
  [[nodiscard]] bool may_claim_now() const { return may_take() && !shortage().holds(); }
  [[nodiscard]] std::size_t limit() const;
  /// Returns the part of limit() that is not used by runs and by claims of single items.
  [[nodiscard]] std::size_t room() const;
  [[nodiscard]] PrefetchCount prefetch_count(std::size_t free) const;
  void start_ahead();
  void watch_ahead();
  void count_claim(const ClaimReply& reply);
  void hand_back_beyond(std::vector<Claim>& claims, std::size_t places);
  void hand_back_ahead();
  void hand_back_ahead_beyond();
  bool hand_back_ahead(const RunId& run);
  void keep_ahead(std::vector<Claim>& claims, std::size_t from);
  void claim_now();
  void item_claimed(ItemClaim&& claim, const RunItemDone& then);
  [[nodiscard]] std::string why_not_item() const;
  void not_started(const EndedRun& run, const NotStarted& why);
  void want_none();
  void finish_draining();

  PollerHost host_;
  ListConfigPtr rule_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Work> work_;
  PollerState state_ = PollerState::held;
  ClaimEnd last_claim_ = ClaimEnd::more;
  bool claim_out_ = false;
  bool quiet_ = false;
  bool draining_ = false;
  bool lacking_ = false;  ///< a prerequisite of the list is missing on this host
  bool ahead_allowed_ = true;
  std::size_t reserved_ = 0;
  std::uint32_t budget_ = 0;
  std::uint32_t taken_ = 0;

  Instant claimed_at_{};
  Duration claim_took_{0};  ///< duration of the last claim
  std::string detail_;
  std::unique_ptr<Totals> past_;  ///< nullptr until the first claim
};

}  // namespace w8y

// What ties one source to one executor under one concurrency limit.
//
// Slot → claim → run → settle. A poller is told of things (a claim was answered, a run ended, a
// place is free, something woke up) and after each looks at where it stands: advance().
//
//   held      takes nothing: quiet, disabled, limit 0, something is not to be had on this host
//   waiting   has room under its own limit and waits for one of the host's places
//   claiming  has asked the source and waits for its answer
//   full      as many runs as it may have
//   resting   the source had nothing for it: waits until that says that it may ask again
//   starved   this host can't start processes now: waits until it is worth a try
//   draining  takes nothing any more and lets its runs finish
//   drained   has nothing left to do, for good
#pragma once

#include <cstddef>
#include <cstdint>
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
#include "core/timers.hpp"

namespace w8y {

enum class PollerState : std::uint8_t {
  held,
  waiting,
  claiming,
  full,
  resting,
  starved,
  draining,
  drained
};

class Poller;

/// Who watches pollers. Called from inside the poller: look, but don't destroy it; state_changed()
/// is where an owner notes that a poller has drained, to sweep it later.
class PollerObserver {
 public:
  virtual ~PollerObserver() = default;
  /// For the runs of a poller that was given none; asked for when it wakes.
  virtual std::shared_ptr<Executor> executor_for(Poller& /*poller*/,
                                                 const ListConfigPtr& /*rule*/) {
    return nullptr;
  }
  virtual void run_started(const Poller& poller, const ActiveRun& run) = 0;
  virtual void run_message(const Poller& poller, const ActiveRun& run, const Message& message) = 0;
  virtual void run_logged(const Poller& poller, const ActiveRun& run, std::string_view line,
                          bool cut) = 0;
  virtual void run_ended(const Poller& poller, const EndedRun& run) = 0;
  virtual void process_changed(const Poller& /*poller*/, int /*pid*/,
                               const ProcessEvent& /*news*/) {}
  virtual void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) = 0;
  /// An item is out of circulation.
  virtual void item_quarantined(const Poller& /*poller*/, const DisplayItem& /*item*/,
                                const std::string& /*why*/) {}
  /// Something of a run's end will never be written to Redis.
  virtual void settlement_abandoned(const Poller& /*poller*/, const RunId& /*run*/,
                                    const std::string& /*why*/) {}
  /// Its write_error() is another.
  virtual void write_error_changed(const Poller& /*poller*/) {}
  virtual void state_changed(Poller& poller) = 0;
  /// Its shortage() has begun, or is over: once each, however many runs can't be started.
  virtual void shortage_changed(const Poller& poller) = 0;
  /// A run could not be started because this host lacks what the list names, or its program. The
  /// poller takes nothing more, until it has another rule.
  virtual void host_lacks(const Poller& /*poller*/, const std::string& /*reason*/) {}
};

/// What came of an operator's order to run an item.
struct RunItemResult {
  enum class Result {
    started,          ///< `run` is
    refused,          ///< whichever host is asked: `why` says what is in the way
    not_on_this_host  ///< another host may
  };
  Result result = Result::not_on_this_host;
  RunId run;
  std::string why;
};

/// What the pollers of a host share.
struct PollerHost {
  const Clock& clock;
  TimerQueue& timers;
  SlotPool& slots;
  PollerObserver& events;
};

class Poller final : private SourceHandler,
                     private ActiveRunsOwner,
                     private ShortageBreaker::Owner,
                     private SlotPool::User {
 public:
  Poller(const PollerHost& host, ListConfigPtr rule);
  ~Poller() override;

  /// The two ends it ties together are made with these as their handlers; then it begins. Without
  /// an executor, it has its events make one when it wakes, and puts that away at rest.
  SourceHandler& source_handler() { return *this; }
  RunHandler& run_handler() { return work().runs; }
  void begin(std::unique_ptr<Source> source, std::shared_ptr<Executor> executor = nullptr);

  /// A changed rule: for the next claim and the next run. What runs keeps its own.
  void use(ListConfigPtr rule, std::shared_ptr<Executor> executor = nullptr);
  /// While set, no new runs.
  void set_quiet(bool quiet);
  /// Places of its limit that runs of a predecessor still take.
  void set_reserved(std::size_t runs);
  /// Takes no more than this many runs in its whole life (the one-item wrapper). 0: no such limit.
  void set_budget(std::size_t runs) { budget_ = runs; }
  /// Whether it may claim a little ahead of very short runs (see claim_ahead()).
  void allow_ahead(bool allow) { ahead_allowed_ = allow; }
  void drain();
  void stop_runs(StopReason reason) {
    if (work_) work_->runs.stop_all(reason);
  }
  void kill_runs(StopReason reason) {
    if (work_) work_->runs.kill_all(reason);
  }
  /// SIGTERM, later SIGKILL; the run is cancelled. False: no such run here.
  bool cancel(const RunId& run) {
    return work_ != nullptr && work_->runs.stop(run, StopReason::cancelled);
  }

  using RunItemDone = std::function<void(const RunItemResult&)>;
  /// Claims that item now, whatever its rest, and runs it. `then` is called once, at once or from
  /// the loop; dropped with the poller.
  void run_item(const Item& item, const RunItemDone& then);

  [[nodiscard]] const ListConfig& rule() const { return *rule_; }
  [[nodiscard]] PollerState state() const { return state_; }
  [[nodiscard]] bool drained() const { return state_ == PollerState::drained; }
  /// The source's last answer.
  [[nodiscard]] ClaimEnd last_claim() const { return last_claim_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }
  [[nodiscard]] bool claim_is_out() const { return claim_out_; }
  /// When it asked last, or was answered; before all time: it has not asked.
  [[nodiscard]] Instant last_claim_at() const {
    return claim_out_ ? claimed_at_ : claimed_at_ + claim_took_;
  }
  /// What of its runs' ends Redis refuses to write, beside their locks; empty: nothing, or it
  /// refuses claims, too.
  [[nodiscard]] const std::string& unwritten() const { return past().unwritten; }
  [[nodiscard]] const ActiveRuns& runs() const { return work_ ? work_->runs : none().runs; }
  [[nodiscard]] const RunCounters& counters() const { return past().counters; }
  [[nodiscard]] const RunStats& measures() const { return past().measures; }
  /// Ends of runs that Redis has not confirmed yet.
  [[nodiscard]] std::size_t unsettled() const { return source_ ? source_->unsettled() : 0; }
  /// It has had a run since it was made, or was about to.
  [[nodiscard]] bool has_past() const { return past_ != nullptr; }
  [[nodiscard]] const ShortageBreaker& shortage() const {
    return work_ ? work_->shortage : none().shortage;
  }
  /// What was wrong with the last run that did not succeed, and when; empty: there was none.
  [[nodiscard]] const std::string& last_problem() const { return past().last_problem; }
  [[nodiscard]] WallTime last_problem_at() const { return past().last_problem_at; }

 private:
  /// How long claims made ahead wait here before they are handed back.
  static constexpr Duration ahead_timeout = std::chrono::milliseconds(100);

  /// What has come of its runs.
  struct Totals {
    RunCounters counters;
    RunStats measures;
    std::string last_problem;
    WallTime last_problem_at{0};
    std::string unwritten;
  };
  /// Items that are claimed before there is a place for them.
  struct Prefetch {
    explicit Prefetch(TimerQueue& timers) : timer(timers) {}
    std::optional<Duration> mean_run;  ///< weighted towards the last few
    std::vector<Claim> claims;         ///< the oldest last; none in a list at rest
    Timer timer;
    Instant until{};  ///< they are handed back then, if none of them has been started
  };
  /// What claims and runs need. Made when it wakes, and put away at rest unless it had a run: ten
  /// thousand lists at rest have none of it.
  struct Work {
    Work() = default;
    explicit Work(Poller& poller)
        : runs(poller.host_.clock, poller.host_.timers, poller),
          shortage(poller.host_.clock, poller.host_.timers, poller) {}
    /// Another in its place would be the same.
    [[nodiscard]] bool unused() const;
    /// That it has taken, or is about to.
    [[nodiscard]] std::size_t places() const {
      return runs.size() + claim_places + next_places + item_claims;
    }

    std::shared_ptr<Executor> executor;  ///< nullptr: see ready()
    bool made_executor = false;          ///< it is not one that was given
    ActiveRuns runs;
    ShortageBreaker shortage;
    std::size_t claim_places = 0;  ///< places taken for the claim that is out
    std::size_t next_places = 0;   ///< and for the one after it; only while a claim is out
    std::size_t item_claims = 0;   ///< of single items that are out; each has a place
    /// Items that are to be run when it is known whether the claim leaves a place.
    std::vector<std::pair<Item, RunItemDone>> items_wanted;
    std::unique_ptr<Prefetch> ahead;  ///< since the end of the first run
  };
  /// At rest.
  static const Work& none();
  Work& work();
  /// The same, with an executor.
  Work& ready();
  void put_away();
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
  void on_all_settled() override { advance(); }
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
  void note_time_of_run(Duration took);

  void advance();
  void set_state(PollerState state);
  [[nodiscard]] bool may_take() const;
  [[nodiscard]] bool takes_now() const { return may_take() && !shortage().holds(); }
  [[nodiscard]] std::size_t limit() const;
  /// Of that, what no run and no claim of a single item has.
  [[nodiscard]] std::size_t room() const;
  [[nodiscard]] std::size_t claim_ahead() const;
  void start_ahead();
  void watch_ahead();
  void count_claim(const ClaimReply& reply);
  void hand_back_beyond(std::vector<Claim>& claims, std::size_t places);
  void hand_back_ahead();
  bool hand_back_ahead(const RunId& run);
  void keep_ahead(std::vector<Claim>& claims, std::size_t from);
  void ask();
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
  bool lacking_ = false;  ///< what the rule names is not to be had here
  bool ahead_allowed_ = true;
  std::size_t reserved_ = 0;
  std::size_t budget_ = 0;
  std::size_t taken_ = 0;

  Instant claimed_at_{};
  Duration claim_took_{0};  ///< the last one
  std::string detail_;
  std::unique_ptr<Totals> past_;  ///< since the first claim
};

}  // namespace w8y

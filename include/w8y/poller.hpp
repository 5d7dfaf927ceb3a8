// What ties one source to one executor under one concurrency limit.
//
// Slot → claim → run → settle. A poller is told of things (a claim was answered, a run ended, a
// place is free, something woke up) and after each looks at where it stands: advance().
//
//   held      takes nothing: quiet, disabled, limit 0, something is not to be had on this host
//   waiting   has room under its own limit and waits for one of the host's places
//   claiming  has asked the source and waits for its answer
//   full      as many runs as it may have
//   resting   the source had nothing for it: waits to be woken, or for its turn to poll
//   starved   this host can't start processes now: waits until it is worth a try
//   draining  takes nothing any more and lets its runs finish
//   drained   has nothing left to do, for good
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <w8y/counters.hpp>
#include <w8y/executor.hpp>
#include <w8y/idle.hpp>
#include <w8y/rule.hpp>
#include <w8y/runs.hpp>
#include <w8y/shortage.hpp>
#include <w8y/slots.hpp>
#include <w8y/source.hpp>
#include <w8y/timers.hpp>

namespace w8y {

enum class PollerState { held, waiting, claiming, full, resting, starved, draining, drained };

class Poller;

/// Who watches pollers. Called from inside the poller: look, but don't destroy it; state_changed()
/// is where an owner notes that a poller has drained, to sweep it later.
class PollerEvents {
 public:
  virtual ~PollerEvents() = default;
  virtual void run_started(const Poller& poller, const ActiveRun& run) = 0;
  virtual void run_message(const Poller& poller, const ActiveRun& run, const Message& message) = 0;
  virtual void run_logged(const Poller& poller, const ActiveRun& run, std::string_view line,
                          bool cut) = 0;
  virtual void run_ended(const Poller& poller, const Settlement& settlement) = 0;
  virtual void process_news(const Poller& /*poller*/, int /*pid*/, const ProcessNews& /*news*/) {}
  virtual void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) = 0;
  /// An item that is too long to be worked on was quarantined.
  virtual void item_parked(const Poller& /*poller*/, const ShownItem& /*item*/) {}
  /// Something of a run's end will never be written to Redis.
  virtual void given_up(const Poller& /*poller*/, const RunId& /*run*/,
                        const std::string& /*why*/) {}
  /// Its unwritten() is another.
  virtual void unwritten_changed(const Poller& /*poller*/) {}
  virtual void state_changed(Poller& poller) = 0;
  /// Its shortage() has begun, or is over: once each, however many runs can't be started.
  virtual void shortage_changed(const Poller& poller) = 0;
  /// A run could not be started because this host lacks what the list names, or its program. The
  /// poller takes nothing more, until it has another rule.
  virtual void host_lacks(const Poller& /*poller*/, const std::string& /*reason*/) {}
};

/// What the pollers of a host share.
struct PollerHost {
  const Clock& clock;
  TimerQueue& timers;
  Slots& slots;
  IdlePolls& idle;
  PollerEvents& events;
};

class Poller final : private SourceHandler,
                     private RunsOwner,
                     private Shortage::Owner,
                     private Slots::User,
                     private IdlePolls::Sleeper {
 public:
  Poller(const PollerHost& host, RulePtr rule);
  ~Poller() override;

  /// The two ends it ties together are made with these as their handlers; then it begins.
  SourceHandler& source_handler() { return *this; }
  RunHandler& run_handler() { return runs_; }
  void begin(std::unique_ptr<Source> source, std::shared_ptr<Executor> executor);

  /// A changed rule: for the next claim and the next run. What runs keeps its own.
  void use(RulePtr rule, std::shared_ptr<Executor> executor);
  /// While set, no new runs.
  void set_quiet(bool quiet);
  /// Places of its limit that runs of a predecessor still take.
  void set_reserved(std::size_t runs);
  /// Takes no more than this many runs in its whole life (the one-item wrapper). 0: no such limit.
  void set_budget(std::size_t runs) { budget_ = runs; }
  /// Whether it may claim a little ahead of very short runs (see claim_ahead()).
  void allow_ahead(bool allow) { ahead_allowed_ = allow; }
  void drain();
  void stop_runs(StopReason reason) { runs_.stop_all(reason); }
  void kill_runs(StopReason reason) { runs_.kill_all(reason); }
  /// SIGTERM, later SIGKILL; the run is cancelled. False: no such run here.
  bool cancel(const RunId& run) { return runs_.stop(run, StopReason::cancelled); }

  [[nodiscard]] const Rule& rule() const { return *rule_; }
  [[nodiscard]] PollerState state() const { return state_; }
  [[nodiscard]] bool drained() const { return state_ == PollerState::drained; }
  /// The source's last answer.
  [[nodiscard]] ClaimEnd last_claim() const { return last_claim_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }
  /// What of its runs' ends Redis refuses to write, beside their locks; empty: nothing.
  [[nodiscard]] const std::string& unwritten() const { return past().unwritten; }
  [[nodiscard]] const Runs& runs() const { return runs_; }
  [[nodiscard]] const RunCounters& counters() const { return past().counters; }
  [[nodiscard]] const Shortage& shortage() const { return shortage_; }
  /// What was wrong with the last run that did not succeed, and when; empty: there was none.
  [[nodiscard]] const std::string& last_problem() const { return past().last_problem; }
  [[nodiscard]] WallTime last_problem_at() const { return past().last_problem_at; }

 private:
  /// Runs shorter than this on average are claimed ahead: for longer ones the round trip of a claim
  /// is nothing, and an item should wait where any host can take it. Where many at once keep Redis
  /// busy, a claim takes longer, and those that are not much longer than it are worth it too.
  static constexpr Duration ahead_worth_it = std::chrono::milliseconds(10);
  /// As much work as may wait here, and how long before it is handed back.
  static constexpr Duration ahead_span = std::chrono::milliseconds(20);
  static constexpr Duration ahead_patience = std::chrono::milliseconds(100);
  /// As many as there are places; few places have more, and none holds more than a claim or a few.
  static constexpr std::size_t ahead_least_most = 64;
  static constexpr std::size_t ahead_most = 1024;
  /// How many times longer an empty list rests whose source would hear of what is added.
  static constexpr unsigned when_it_hears = 8;
  /// Commands of a pass that is cheap enough for each item that is set free; and items that one of
  /// them looks at.
  static constexpr std::size_t short_pass = 4;
  static constexpr std::size_t items_per_call = 256;
  /// However often an item becomes free.
  static constexpr Duration look_at_least = std::chrono::seconds(2);
  /// What says that something may be free is worth a claim at once, but for each that found nothing
  /// the next one waits twice as long. Where others wait too, they don't come all at once.
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;
  static constexpr Duration wake_spread = std::chrono::milliseconds(50);
  /// While others are heard of, they look after the list that we wait for; after such a silence one
  /// of those who wait does, and the others hear of that.
  static constexpr Duration silence = std::chrono::milliseconds(400);
  /// Others are at work there if something was set free within this time: else each looks for
  /// itself.
  static constexpr Duration at_work = std::chrono::seconds(3);
  /// Settlements are gathered for a few milliseconds (settlements.hpp), and the rest begins at
  /// Redis.
  static constexpr Duration settled_within = std::chrono::milliseconds(7);

  /// What has come of its runs.
  struct Past {
    RunCounters counters;
    std::string last_problem;
    WallTime last_problem_at{0};
    std::string unwritten;
  };
  [[nodiscard]] const Past& past() const;
  Past& past();
  RunCounters& count() { return past().counters; }

  // SourceHandler
  void on_claimed(ClaimReply&& reply) override;
  void on_looked(const LookReply& reply) override;
  void on_lease_lost(const RunId& run) override;
  void on_lease_back(const RunId& run) override;
  void on_lease_expiring(const RunId& run) override;
  void on_wake() override;
  void on_turn() override;
  void on_others(bool freed) override;
  void on_back() override;
  void on_given_up(const RunId& run, const std::string& why) override {
    host_.events.given_up(*this, run, why);
  }
  void on_unwritten(const std::string& why) override {
    past().unwritten = why;
    host_.events.unwritten_changed(*this);
  }
  void on_all_settled() override { advance(); }
  // RunsOwner
  void run_started(const ActiveRun& run) override;
  void run_message(const ActiveRun& run, const Message& message) override;
  void run_logged(const ActiveRun& run, std::string_view line, bool cut) override;
  void run_event(const RunEvent& event) override;
  void process_news(int pid, const ProcessNews& news) override;
  void run_over(Settlement&& settlement, Duration took) override;
  // Shortage::Owner
  void may_try() override { advance(); }
  void shortage_over() override { host_.events.shortage_changed(*this); }
  // Slots::User, IdlePolls::Sleeper
  void slot_free() override;
  void poll_due(bool hinted, double paid) override;
  void back_due() override;

  void advance();
  void set_state(PollerState state);
  [[nodiscard]] bool may_take() const;
  [[nodiscard]] bool takes_now() const { return may_take() && !shortage_.holds(); }
  [[nodiscard]] std::size_t limit() const;
  [[nodiscard]] Duration ahead_worth() const;
  [[nodiscard]] std::size_t claim_ahead() const;
  [[nodiscard]] bool is_let_in();
  void start_ahead();
  void watch_ahead();
  void hand_back_ahead();
  bool hand_back_ahead(const RunId& run);
  void keep_ahead(std::vector<Claim>& claims, std::size_t from);
  void ask();
  void rest(const ClaimReply& reply);
  void end_rest();
  void wake_up(Duration within);
  void claim_for_wake();
  void note_wake(bool found);
  void sleep_in_line();
  [[nodiscard]] bool others_look() const;
  void expect_free(Duration in);
  [[nodiscard]] bool may_look() const;
  void note_pass(const ClaimReply& reply, bool woken);
  void note_freed();
  void not_started(const Settlement& settlement, const NotStarted& why);
  void stir();
  void finish_draining();

  PollerHost host_;
  RulePtr rule_;
  std::shared_ptr<Executor> executor_;
  std::unique_ptr<Source> source_;
  Runs runs_;
  Shortage shortage_;

  PollerState state_ = PollerState::held;
  bool claim_out_ = false;
  std::size_t claim_slots_ = 0;  ///< places taken for the claim that is out
  std::size_t next_slots_ = 0;   ///< and for the one after it; only while a claim is out
  bool let_in_ = false;          ///< see is_let_in()
  bool resting_ = false;
  bool looking_ = false;  ///< resting, and has asked the source whether a claim is worth it
  std::optional<Instant> free_at_;  ///< resting: when an item may become free, as a claim saw it
  bool woken_ = false;  ///< something woke us while a claim was out: its "nothing" may be old
  bool turn_ = false;   ///< or told us that it is our turn
  Line line_ = Line::none;
  bool overdue_ = false;        ///< the next claim is: see Manner
  bool for_wake_ = false;       ///< the claim that is out is for a wake
  std::uint8_t fruitless_ = 0;  ///< of those in a row that found nothing
  Instant woke_at_{};           ///< the last one
  std::optional<Instant> wake_due_;
  Instant heard_at_{};       ///< of others, last
  Instant freed_at_{};       ///< that something was set free
  bool scarce_ = false;      ///< the last whole pass found too little: next, only the ends
  bool owes_whole_ = false;  ///< something became free: a whole pass, if the ends don't have it
  std::optional<Instant> whole_at_;  ///< when the ends are no longer enough
  Instant looked_at_{};              ///< the last look or whole pass, of a list at rest
  std::size_t pass_calls_ = 0;       ///< of the last whole pass
  double paid_ = 0;                  ///< of the idle budget, for the claim or look that is out
  bool quiet_ = false;
  bool draining_ = false;
  bool lacking_ = false;  ///< what the rule names is not to be had here
  std::size_t reserved_ = 0;
  std::size_t budget_ = 0;
  std::size_t taken_ = 0;

  bool ahead_allowed_ = true;
  std::vector<Claim> ahead_;  ///< the oldest last; none in a list at rest
  Timer ahead_timer_;
  Instant ahead_until_{};  ///< they are handed back then, if none of them has been started
  Instant claimed_at_{};
  Duration claim_took_{0};            ///< the last one
  std::optional<Duration> mean_run_;  ///< weighted towards the last few

  ClaimEnd last_claim_ = ClaimEnd::more;
  std::string detail_;
  std::unique_ptr<Past> past_;  ///< since the first claim
};

}  // namespace w8y

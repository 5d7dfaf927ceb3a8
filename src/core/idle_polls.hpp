// Scheduler of the polls of idle lists, which share one budget of Redis commands (`idle_commands`,
// w8y.toml(5)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"

namespace w8y {

/// Wakes each sleeper periodically, at an interval of at least `shortest_pause`. The interval grows
/// with the number of sleepers, so that their polls exceed neither the budget nor polls_per_second.
/// If Redis reports the changes of a list, its sleeper is polled less often: these polls only find
/// changes whose report was lost. All sleepers share one timer.
class IdlePolls {
 public:
  static constexpr Duration shortest_pause = std::chrono::milliseconds(250);
  /// Maximum number of polls of one host per second. Polls that share a command cost little of the
  /// budget, but still time on the host and in Redis.
  static constexpr double polls_per_second = 7'500;
  /// Maximum number of polls per second of all hosts of a fleet. Redis needs about 5 µs to poll a
  /// list whose items are delayed, so this is a third of the capacity of one Redis. The load of a
  /// list grows with the number of hosts that poll it.
  static constexpr double polls_of_fleet = 60'000;
  /// The fraction of the budget for which polls are planned. The remainder is for polls that cost
  /// more than expected.
  static constexpr double planned = 0.8;
  /// Grids of poll times, so that sleepers that can share a command are due together.
  static constexpr Duration beat = std::chrono::milliseconds(50);
  static constexpr Duration beat_if_reported = std::chrono::seconds(1);
  /// Upper bound of Terms::patience: how many times longer than others one list may wait for its
  /// next poll.
  static constexpr unsigned most_patience = 8;
  /// Interval between polls of a sleeper with Terms::reported, without jitter, and its ratio to
  /// `shortest_pause`. It is longer if others are polled less often than every 3.75 s, or if the
  /// polls of all these sleepers would exceed the maximum number of polls per second.
  static constexpr Duration pause_if_reported = std::chrono::seconds(30);
  static constexpr unsigned factor_if_reported = pause_if_reported / shortest_pause;
  /// Head start of a hinted poll that is due at once: it is queued as if it had been due for this
  /// time, so it precedes polls that became due later.
  static constexpr Duration hint_lead = std::chrono::seconds(1);
  /// Interval at which polls that were planned under a higher load are brought forward.
  static constexpr Duration review = std::chrono::seconds(2);
  /// The same interval if the load was more than twice as high.
  static constexpr Duration early_review = std::chrono::milliseconds(250);
  /// Bounds of the number of sleepers that are admitted to claim at once after a reconnect. The
  /// number doubles when a claim gets its reply within `soon_back`, and halves when the reply needs
  /// `late_back` or longer. A thousand hosts that reconnect together thus get their replies well
  /// within the command timeout, and a single host is not delayed.
  static constexpr std::size_t least_back = 8;
  static constexpr std::size_t most_back = 256;
  static constexpr Duration soon_back = std::chrono::milliseconds(100);
  static constexpr Duration late_back = std::chrono::milliseconds(400);
  /// A deficit older than this is cancelled, so that every list is polled at least this often.
  static constexpr Duration longest_debt = std::chrono::seconds(30);

  /// Maximum number of commands of one scan that are charged to the common budget. The maximum is
  /// lower if the budget of half a second has fewer commands.
  static constexpr double most_at_once = 64;

  class Sleeper {
   public:
    explicit Sleeper(IdlePolls& polls) : polls_(polls), number_(++polls.made_) {}
    virtual ~Sleeper();
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    struct Terms {
      std::optional<Duration> hint;  ///< from now; used if earlier than the planned poll
      /// How many times longer than others it can wait for its next poll; at most `most_patience`.
      unsigned patience = 1;
      /// Expected cost in commands. A sleeper that shares its command with others is charged later,
      /// by charge(). Any other sleeper is charged 1 when it is woken.
      double cost = 1;
      bool hint_shares = false;  ///< a hinted poll shares its command as well
      bool reported = false;     ///< Redis reports changes, so `patience` does not apply
    };
    /// Requests one poll_due().
    void sleep(const Terms& terms);
    /// Cancels the requested poll_due().
    void wake();
    /// Charges commands in addition to those already charged. Negative if the poll cost less, or if
    /// it was not an idle poll.
    void charge(double commands) { polls_.tokens_ -= commands; }
    /// Charges the cost of a scan of a long list as a deficit of this sleeper. Half of the budget
    /// reduces deficits, in equal parts for all sleepers that have one, so that a small deficit
    /// does not wait behind a large one. The other half is for sleepers without a deficit, and also
    /// reduces deficits once one second of it is unused. While the sleeper has a deficit, it is not
    /// polled, unless it shares a command with others.
    void owe(double commands);
    [[nodiscard]] bool owes() const;
    /// Charges the additional cost of a scan: at most `most_at_once` commands to the common budget,
    /// the rest as a deficit of this sleeper. Negative if the scan cost less than was charged.
    void charge_pass(double commands);
    /// Charges one command if the budget has one now. Returns false otherwise. The command is
    /// reported as `paid`.
    [[nodiscard]] bool pay();
    /// The same, but only if has_spare().
    [[nodiscard]] bool pay_from_spare();
    /// Returns whether half a second of the budget remains, so that a command does not delay the
    /// poll of another sleeper.
    [[nodiscard]] bool has_spare();
    /// Returns the number of live hosts of the fleet, see share_with().
    [[nodiscard]] std::size_t hosts() const { return polls_.hosts_; }
    /// Sets the next poll to a random time within its interval. Used after an event that reaches
    /// all hosts of a fleet at once (a wake-up, a start, a reconnect), so that they do not poll at
    /// the same moment from then on.
    void go_apart() { apart_ = true; }
    /// Returns a random duration below `below`.
    [[nodiscard]] Duration spread(Duration below);
    /// Requests one back_due() after a reconnect to Redis, which affects all sleepers at once.
    /// back_due() is called when the sleeper is admitted.
    void come_back();
    /// The same, but admits the caller at once if possible. Returns true if it was admitted: the
    /// caller must call been_back() later. Returns false if it must wait for back_due().
    [[nodiscard]] bool come_in();
    /// Ends the claim that started with come_in() or back_due().
    void been_back();
    /// Returns how long half of the budget needs to cover `commands` if no other sleeper has a
    /// deficit; at most `longest_debt`.
    [[nodiscard]] Duration time_for(double commands) const;

   protected:
    /// Called when a poll is due. `hinted`: the time of its hint has come. `paid`: commands that
    /// were charged to the budget.
    virtual void poll_due(bool hinted, double paid) = 0;
    /// Called when the sleeper is admitted. It must call been_back() once, immediately or later.
    virtual void back_due() = 0;

   private:
    friend class IdlePolls;
    /// Returns whether at least two lists share its command.
    [[nodiscard]] bool shares() const { return cost_ <= 0.5; }
    [[nodiscard]] double price() const { return shares() && (!hinted_ || hint_shares_) ? 0 : 1; }
    /// Number of polls of this sleeper for each poll of a sleeper with the interval factor 1.
    [[nodiscard]] double weight() const { return 1.0 / patience_; }
    [[nodiscard]] bool reported() const { return patience_ == factor_if_reported; }
    [[nodiscard]] Instant next_turn(Duration pause) const;

    IdlePolls& polls_;
    const std::uint64_t number_;  ///< order among sleepers that are due at the same time
    Instant due_{};
    double cost_ = 1;
    std::uint32_t place_ = awake;  ///< index in Due::sleepers
    std::uint8_t patience_ = 1;
    bool hinted_ : 1 = false;
    bool hint_shares_ : 1 = false;
    bool apart_ : 1 = true;
    enum class Back : std::uint8_t { no, waiting, at_it };
    Back back_ = Back::no;
    struct Debt {
      double paid_at;               ///< value of IdlePolls::paid_each_ at which the deficit is zero
      Instant forgiven_at;          ///< the remainder is cancelled then
      std::optional<Instant> turn;  ///< set while it sleeps: earliest time of its poll
    };
    std::unique_ptr<Debt> debt_;  ///< nullptr for most sleepers
  };

  /// `seed` adds jitter: two hosts that start together do not poll in step.
  IdlePolls(TimerQueue& timers, const Clock& clock, unsigned per_second, std::uint64_t seed);
  void set_budget(unsigned per_second);
  /// Sets the number of hosts that poll lists of the same Redis, including this host.
  void share_with(std::size_t hosts);
  /// Returns how long an idle list currently waits for its poll at most, unless it has a deficit or
  /// other hosts poll it.
  [[nodiscard]] Duration longest_turn() const;

 private:
  /// Sleepers that are due at the same time. Poll times are multiples of `beat`, so there are few
  /// entries, and sleep() and wake() do not search all sleepers.
  struct Due {
    std::vector<Sleeper*> sleepers;
    bool sorted = true;  ///< the next sleeper is the last element
  };
  static constexpr std::uint32_t awake = UINT32_MAX;

  /// Sleepers with a deficit, by rank and then by order of construction.
  template <typename Rank>
  using Debtors = std::map<std::pair<Rank, std::uint64_t>, Sleeper*>;

  void count(const Sleeper& sleeper, int sleepers);
  void add(Sleeper& sleeper);
  void remove(Sleeper& sleeper);
  void remove_last(std::map<Instant, Due>::iterator due);
  void sort(Due& due);
  Sleeper& extract_due();
  void arm();
  void run();
  [[nodiscard]] bool worth_review(Instant now) const;
  void review_turns(Instant now);
  void let_back();
  void let_in(Sleeper& sleeper);
  void record_back(const Sleeper& sleeper);
  void refill();
  void record_debt(Sleeper& sleeper);
  std::unique_ptr<Sleeper::Debt> extract_debt(Sleeper& sleeper);
  void end_debt(Sleeper& sleeper);
  void await_debts();
  [[nodiscard]] double seconds_to_pay(double commands) const;
  double pay_debts(double seconds);
  [[nodiscard]] double left_a_second() const;
  [[nodiscard]] Duration fair_pause() const;
  [[nodiscard]] Duration pause(const Sleeper& sleeper);
  [[nodiscard]] double random_part();
  [[nodiscard]] Instant on_the_beat(Instant at, Duration grid = beat) const;

  TimerQueue& timers_;
  const Clock& clock_;
  std::uint64_t made_ = 0;  ///< number of sleepers constructed so far
  double per_second_;
  double looks_ = polls_per_second;  ///< maximum number of polls per second of this host
  std::size_t hosts_ = 1;            ///< see share_with()
  double tokens_;
  Instant filled_;
  Instant reviewed_at_;
  /// The longest fair pause by which a current poll may have been planned.
  Duration planned_by_ = shortest_pause;
  std::uint64_t random_;
  Duration offbeat_;            ///< offset of this host's grid of poll times
  std::map<Instant, Due> due_;  ///< no entry is empty
  double sleepers_ = 0;         ///< sum of the weights of all sleepers
  double reported_ = 0;         ///< number of sleepers with Terms::reported
  double load_ = 0;             ///< sum of the costs of their polls, times their weights
  double paid_each_ = 0;  ///< commands that a sleeper has received that had a deficit all the time
  Debtors<double> by_payment_;
  Debtors<Instant> by_forgiving_;
  Timer debts_timer_;
  Timer timer_;
  std::deque<Sleeper*> back_;  ///< waiting for admission, in order of arrival
  std::size_t backs_out_ = 0;
  std::size_t backs_at_once_ = least_back;
  const Sleeper* timed_ = nullptr;  ///< an admitted sleeper whose duration is measured
  Instant timed_since_{};
  Timer back_timer_;
};

}  // namespace w8y

// Lists that had nothing to do share one budget of polls (`idle_commands`, w8y.toml(5)).
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

/// Wakes each sleeper now and then: after `min_pause`, or later if there are so many that the
/// budget or looks_per_second does not allow it. One timer for all, however many sleep.
class IdlePolls {
 public:
  static constexpr Duration shortest_pause = std::chrono::milliseconds(250);
  /// Looks that many lists share cost little of the budget, but still time, here and at Redis.
  static constexpr double looks_per_second = 7'500;
  /// Of all hosts of a fleet together: a look at a list whose items rest takes Redis some 5 µs, so
  /// this is a third of what one Redis can do. A list has the more hosts that look at it.
  static constexpr double looks_of_fleet = 60'000;
  /// The part of the budget that turns are planned for. The rest is for turns that cost more than
  /// expected.
  static constexpr double planned = 0.8;
  /// Turns come at multiples of this, so that those who can share a command are due together.
  static constexpr Duration beat = std::chrono::milliseconds(50);
  /// Nobody is planned to wait more than so many times as long as others for a turn.
  static constexpr unsigned most_patience = 8;
  /// Turns that were planned when there was more to do are brought forward this often.
  static constexpr Duration review = std::chrono::seconds(2);
  /// Or so soon, where there was more than twice as much to do.
  static constexpr Duration early_review = std::chrono::milliseconds(250);
  /// So few claim at once when Redis is back, and twice as many after each that is answered soon,
  /// half as many after one that took long: a thousand hosts that come back together are answered
  /// well within a command's timeout, and one that is alone is not held up.
  static constexpr std::size_t least_back = 8;
  static constexpr std::size_t most_back = 256;
  static constexpr Duration soon_back = std::chrono::milliseconds(100);
  static constexpr Duration late_back = std::chrono::milliseconds(400);
  /// Who has owed something for so long is forgiven all of it: no list goes unseen for longer.
  static constexpr Duration longest_debt = std::chrono::seconds(30);

  /// Commands of one pass that all wait for; and never more than half a second of the budget.
  static constexpr double most_at_once = 64;

  class Sleeper {
   public:
    explicit Sleeper(IdlePolls& polls) : polls_(polls), number_(++polls.made_) {}
    virtual ~Sleeper();
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    struct Terms {
      std::optional<Duration> hint;  ///< from now: sooner than in its turn, if that is sooner
      /// So many times longer than others it can wait for its turn; `most_patience` at most.
      unsigned patience = 1;
      /// Commands that it will cost, as far as is known. One that shares its command with others
      /// pays only what is charged then; any other pays 1 when it is woken.
      double cost = 1;
    };
    /// Asks for one poll_due().
    void sleep(const Terms& terms);
    /// No poll_due() any more.
    void wake();
    /// The poll cost more commands than were paid; below 0: fewer, or it was no idle poll after
    /// all.
    void charge(double commands) { polls_.tokens_ -= commands; }
    /// The poll cost many more: a pass over a long list. Half of the budget pays such debts, in
    /// equal parts to all who owe: a small debt is not paid behind a large one. The other half is
    /// for those who owe nothing, and pays debts too once a second of it is unused. Until its debt
    /// is paid, the sleeper's turn does not come, unless it shares a command with others.
    void owe(double commands);
    [[nodiscard]] bool owes();
    /// A pass cost so many more. All wait for a few of them, and the sleeper owes the rest. Below 0
    /// it cost fewer.
    void charge_pass(double commands);
    /// Whether the budget pays for a command now; then it is paid, and told as `paid`.
    [[nodiscard]] bool pay();
    /// The same, where half a second of the budget would be left: nobody's turn waits for what this
    /// has cost.
    [[nodiscard]] bool pay_from_spare();
    /// Its next turn comes at any time within a turn: all hosts of a fleet have heard what it has,
    /// begin, or come back at once, and would look at the same moment from then on.
    void go_apart() { apart_ = true; }
    /// A random duration below that.
    [[nodiscard]] Duration spread(Duration below);
    /// Redis is back, for all sleepers at once. Asks for one back_due(), which comes when few
    /// enough others are at it.
    void come_back();
    /// The same, for a caller that goes on at once if few enough others are at it. True: it may go
    /// on, and calls been_back() later. False: it waits for back_due().
    [[nodiscard]] bool come_in();
    /// What began with come_in() or back_due() is over.
    void been_back();
    /// How long half of the budget takes to pay for so many commands, if nobody else owes any;
    /// `max_debt` at most.
    [[nodiscard]] Duration time_for(double commands) const;

   protected:
    /// `hinted`: the time of its hint has come. `paid`: commands of the budget.
    virtual void poll_due(bool hinted, double paid) = 0;
    /// Followed by one been_back(), at once or later.
    virtual void back_due() = 0;

   private:
    friend class IdlePolls;
    /// Its command is one for two lists at least.
    [[nodiscard]] bool shares() const { return cost_ <= 0.5; }

    IdlePolls& polls_;
    const std::uint64_t number_;  ///< who are due at once go in the order in which they were made
    Instant due_{};
    double cost_ = 1;
    std::uint32_t place_ = awake;  ///< in what is due then
    std::uint8_t patience_ = 1;
    bool hinted_ = false;
    bool apart_ = true;
    enum class Back : std::uint8_t { no, waiting, at_it };
    Back back_ = Back::no;
    struct Debt {
      double paid_at;               ///< in IdlePolls::paid_each_
      Instant forgiven_at;          ///< whatever is left of it
      std::optional<Instant> turn;  ///< it sleeps, and its turn comes no sooner than this
    };
    std::unique_ptr<Debt> debt_;  ///< few owe something
  };

  /// `seed` spreads hosts: two that start together don't poll in step.
  IdlePolls(TimerQueue& timers, const Clock& clock, unsigned per_second, std::uint64_t seed);
  void set_budget(unsigned per_second);
  /// So many hosts look at lists of the same Redis, this one included.
  void share_with(std::size_t hosts);
  /// How long a list at rest waits for its turn at most, as things are: unless it owes something,
  /// or others look after it.
  [[nodiscard]] Duration longest_turn() const;

 private:
  /// Those that are due at once. Turns come on the beat, so there are few of these however many
  /// sleep, and to sleep or to wake costs no search among all.
  struct Due {
    std::vector<Sleeper*> sleepers;
    bool sorted = true;  ///< the first to go stands at the end
  };
  static constexpr std::uint32_t awake = UINT32_MAX;

  /// Of those who owe something: who was made first goes first.
  template <typename Rank>
  using Debtors = std::map<std::pair<Rank, std::uint64_t>, Sleeper*>;

  void add(Sleeper& sleeper);
  void remove(Sleeper& sleeper);
  void remove_last(std::map<Instant, Due>::iterator due);
  void sort(Due& due);
  Sleeper& take_due();
  void arm();
  void run();
  [[nodiscard]] bool worth_review(Instant now) const;
  void review_turns(Instant now);
  void let_back();
  void let_in(Sleeper& sleeper);
  void note_back(const Sleeper& sleeper);
  void refill();
  void note_debt(Sleeper& sleeper);
  std::unique_ptr<Sleeper::Debt> take_debt(Sleeper& sleeper);
  void end_debt(Sleeper& sleeper);
  void await_debts();
  [[nodiscard]] double seconds_to_pay(double commands) const;
  double pay_debts(double seconds);
  [[nodiscard]] double left_a_second() const;
  [[nodiscard]] Duration fair_pause() const;
  [[nodiscard]] Duration pause(unsigned patience);
  [[nodiscard]] double random_part();
  [[nodiscard]] Instant on_the_beat(Instant at) const;

  TimerQueue& timers_;
  const Clock& clock_;
  std::uint64_t made_ = 0;  ///< sleepers
  double per_second_;
  double looks_ = looks_per_second;  ///< of this host
  double tokens_;
  Instant filled_;
  Instant reviewed_at_;
  /// The longest fair pause by which a turn of now may have been planned.
  Duration planned_by_ = shortest_pause;
  std::uint64_t random_;
  Duration offbeat_;            ///< of this host against others
  std::map<Instant, Due> due_;  ///< none is empty
  std::size_t sleepers_ = 0;
  double load_ = 0;       ///< commands that a turn of all sleepers comes to
  double paid_each_ = 0;  ///< commands that who has owed all the time has been given
  Debtors<double> by_payment_;
  Debtors<Instant> by_forgiving_;
  Timer debts_timer_;
  Timer timer_;
  std::deque<Sleeper*> back_;  ///< in the order in which they came
  std::size_t backs_out_ = 0;
  std::size_t backs_at_once_ = least_back;
  const Sleeper* timed_ = nullptr;  ///< of those that are out, one whose time is taken
  Instant timed_since_{};
  Timer back_timer_;
};

}  // namespace w8y

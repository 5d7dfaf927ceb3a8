// Source of a circular list: decides when to claim, and how much of the list to scan.
//
// A list becomes idle when a claim finds nothing. It ends that state after a message that an item
// may be free, at the end of a delay that a claim has seen, or with the next poll that the idle
// budget of the host covers. Idle lists share commands for peeks, and a claim follows if the peek
// finds it worthwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/clock.hpp"
#include "core/idle_polls.hpp"
#include "core/source.hpp"
#include "source/claim_relay.hpp"
#include "store/circular/list.hpp"

namespace w8y::source {

class CircularSource final : public Source,
                             private ClaimRelay<store::CircularListHandler>,
                             private IdlePolls::Sleeper {
 public:
  using MakeList = std::function<std::unique_ptr<store::CircularList>(store::CircularListHandler&)>;
  CircularSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler, const MakeList& make);
  ~CircularSource() override;

  void use(ListConfigPtr rule) override;
  [[nodiscard]] bool may_claim() const override { return !resting_; }
  void claim(std::size_t wanted) override;
  bool claim_item(const Item& item, ItemClaimed then) override;
  [[nodiscard]] std::size_t claims_ahead(const RunRate& pace) const override;
  void stop_waiting() override;
  void retire() override;
  void settle(EndedRun&& run) override;
  void hand_back(const Claim& claim) override;
  [[nodiscard]] bool may_start(const Claim& claim) const override {
    return list_->may_start(claim);
  }
  void announce(const RunEvent& event) override { list_->announce(event); }
  [[nodiscard]] std::size_t unsettled() const override { return list_->unsettled(); }

 private:
  /// Factor by which the poll interval of an empty list is longer while Redis notifies this host of
  /// added items.
  static constexpr unsigned when_it_hears = IdlePolls::most_patience;
  /// Maximum length of a short scan, in calls, and the number of items that one call examines. A
  /// short scan may follow each freed item.
  static constexpr std::size_t short_pass = 4;
  static constexpr std::size_t items_per_call = 256;
  static bool is_long(std::size_t calls) { return calls > short_pass; }
  /// Time since the last peek or full scan after which a poll peeks, even if it is due because a
  /// certain item becomes free.
  static constexpr Duration look_at_least = std::chrono::seconds(2);
  /// Pause after a wake-up whose claim found nothing. It doubles with each consecutive wake-up of
  /// this kind. After any other wake-up, the host claims at once, or at a random time within
  /// `wake_spread` if other hosts wait.
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;
  /// Interval of claims in the wait queue: with one other waiter, the addition for each further
  /// waiter, and the maximum. Up to sixty hosts together thus claim from a list once per second.
  /// The interval doubles after each claim that found nothing. The maximum is the time for which
  /// Redis keeps a waiter that does not claim (claim.lua).
  static constexpr Duration least_in_line = std::chrono::seconds(3);
  static constexpr Duration more_in_line = std::chrono::seconds(1);
  static constexpr Duration most_in_line = std::chrono::minutes(1);
  static constexpr unsigned most_in_vain = 5;
  static constexpr Duration wake_spread = std::chrono::milliseconds(50);
  /// Time that is added to the delay of an item when this host plans a poll for its end. The delay
  /// starts when Redis executes the settlement, and settlements are batched for some ms
  /// (settlements.hpp).
  static constexpr Duration settled_within = std::chrono::milliseconds(7);

  // store::CircularListHandler
  void on_claimed(store::PassReply&& reply) override;
  void on_looked(const store::LookReply& reply) override;
  void on_wake() override;
  void on_turn() override;
  void on_back() override;
  [[nodiscard]] bool pays_for_look() override { return pay(); }
  // IdlePolls::Sleeper
  void poll_due(bool hinted, double paid) override;
  void back_due() override;

  void send_claim();
  void rest(const store::PassReply& reply);
  void pay_for(const store::PassReply& reply);
  void end_rest();
  void stir();
  void look();
  void note_pass(const store::PassReply& reply, bool woken);
  void note_freed();
  void follow_end();
  void expect_free(Duration in);
  [[nodiscard]] bool may_look() const;
  [[nodiscard]] double cost_of_look() const { return may_look() ? list_->look_cost() : 1; }
  [[nodiscard]] bool begin_wake(Duration within);
  void end_wake();
  void wake_up(Duration within);
  void claim_for_wake();
  void note_wake(bool found);
  void claim_overdue();
  /// Returns the pause after wake-ups that found nothing.
  [[nodiscard]] Duration wake_pause() const;
  [[nodiscard]] unsigned patience() const;
  [[nodiscard]] bool long_in_line() const;
  [[nodiscard]] bool takes_place_again();
  [[nodiscard]] std::optional<Duration> hint() const;

  const Clock& clock_;
  std::unique_ptr<store::CircularList> list_;
  ListConfigPtr rule_;
  std::size_t held_ = 0;              ///< claims that are neither settled nor handed back
  std::uint32_t pass_calls_ = 0;      ///< number of calls of the last full scan
  std::uint32_t others_in_line_ = 0;  ///< number of other waiters at the last claim

  // State of the claim in flight.
  std::size_t wanted_ = 0;
  double paid_ = 0;  ///< commands charged to the idle budget for the claim or peek in flight
  bool claim_out_ = false;
  bool claim_waits_ = false;  ///< the claim has not been sent yet
  bool let_in_ = false;       ///< whether the list may send its first claim; IdlePolls admits lists
                              ///< in batches
  bool still_wanted_ = false;  ///< false after stop_waiting(), until the next claim
  bool woken_ = false;         ///< a wake-up arrived during the claim, so an empty result may be
                               ///< outdated
  bool turn_ = false;          ///< the host got its turn during the claim
  bool overdue_ = false;       ///< whether the next claim ignores the wait queue, see store::Manner
  bool for_wake_ = false;      ///< the claim follows a wake-up

  // State of an idle list.
  bool resting_ = false;
  bool looking_ = false;         ///< a peek is in flight
  bool looks_for_back_ = false;  ///< the peek in flight follows a reconnect
  // Counters that share one byte. Their maximums are most_fruitless and most_in_vain.
  std::uint8_t fruitless_ : 4 = 0;  ///< consecutive wake-ups whose claim found nothing
  std::uint8_t in_vain_ : 4 = 0;    ///< consecutive claims that only renewed the position in the
                                    ///< wait queue
  store::Line line_ = store::Line::none;
  // Extent of the next scan.
  bool scarce_ = false;      ///< the last full scan found too little, so the next one covers only
                             ///< the edges
  bool owes_whole_ = false;  ///< an item has become free; a full scan follows if the edges do not
                             ///< have it
  ClaimEnd last_ = ClaimEnd::more;  ///< end of the last claim
  std::optional<Instant> free_at_;  ///< time at which an item may become free, according to a claim
  std::optional<Instant> wake_due_;
  Instant looked_at_{};   ///< time of the last peek or full scan
  Instant woke_at_{};     ///< time of the last claim after a wake-up
  Instant claimed_at_{};  ///< time of the last reply to a claim

  std::optional<Instant> whole_at_;  ///< time at which a full scan replaces the edge scan
};

}  // namespace w8y::source

// The circular list as a Source: when it is worth asking for items, and at which part of the list.
//
// What found nothing rests. It ends its rest when something is heard to have become free, when the
// rest of an item is over that a claim saw, or when its turn comes to spend some of the host's idle
// budget. Many lists that rest are looked at in one command; a claim is made where that says so.
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
  /// How many times longer an empty list rests that would hear of what is added.
  static constexpr unsigned when_it_hears = IdlePolls::most_patience;
  /// Calls of a pass that is cheap enough for each item that is set free; and items that one of
  /// them looks at.
  static constexpr std::size_t short_pass = 4;
  static constexpr std::size_t items_per_call = 256;
  static bool is_long(std::size_t calls) { return calls > short_pass; }
  /// However often an item becomes free.
  static constexpr Duration look_at_least = std::chrono::seconds(2);
  /// What says that something may be free is worth a claim at once, but for each that found nothing
  /// the next one waits twice as long. Where others wait too, they don't come all at once.
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;
  /// In the line, from one claim to the next: with one other, and more for each further one, so
  /// that up to sixty hosts together claim from a list once a second. Twice as long after each that
  /// found nothing; but each does once a minute, which is how long Redis keeps a line that nobody
  /// claims for (claim.lua).
  static constexpr Duration least_in_line = std::chrono::seconds(3);
  static constexpr Duration more_in_line = std::chrono::seconds(1);
  static constexpr Duration most_in_line = std::chrono::minutes(1);
  static constexpr unsigned most_in_vain = 5;
  static constexpr Duration wake_spread = std::chrono::milliseconds(50);
  /// Settlements are gathered for a few milliseconds (settlements.hpp), and the rest begins at
  /// Redis.
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
  /// After those that found nothing.
  [[nodiscard]] Duration wake_pause() const;
  [[nodiscard]] unsigned patience() const;
  [[nodiscard]] bool long_in_line() const;
  [[nodiscard]] bool takes_place_again();
  [[nodiscard]] std::optional<Duration> hint() const;

  const Clock& clock_;
  std::unique_ptr<store::CircularList> list_;
  ListConfigPtr rule_;
  std::size_t held_ = 0;              ///< claims that are neither settled nor handed back
  std::uint32_t pass_calls_ = 0;      ///< of the last whole pass
  std::uint32_t others_in_line_ = 0;  ///< as that had it

  // The claim that is out.
  std::size_t wanted_ = 0;
  double paid_ = 0;  ///< of the idle budget, for the claim or look that is out
  bool claim_out_ = false;
  bool claim_waits_ = false;   ///< it has not been sent yet
  bool let_in_ = false;        ///< the first claims of all lists are paced by their answers
  bool still_wanted_ = false;  ///< since it was asked for, nobody said that nothing is wanted
  bool woken_ = false;         ///< something woke us meanwhile: its "nothing" may be old
  bool turn_ = false;          ///< or told us that it is our turn
  bool overdue_ = false;       ///< the next claim is: see store::Manner
  bool for_wake_ = false;      ///< it is for a wake

  // At rest.
  bool resting_ = false;
  bool looking_ = false;         ///< and has asked whether a claim is worth it
  bool looks_for_back_ = false;  ///< and has a place among those that come back
  // In one byte: see most_fruitless, most_in_vain.
  std::uint8_t fruitless_ : 4 = 0;  ///< claims for wakes, in a row, that found nothing
  std::uint8_t in_vain_ : 4 = 0;    ///< and those that only took a place in the line again
  store::Line line_ = store::Line::none;
  // Which part of the list.
  bool scarce_ = false;      ///< the last whole pass found too little: next, only the ends
  bool owes_whole_ = false;  ///< something became free: a whole pass, if the ends don't have it
  ClaimEnd last_ = ClaimEnd::more;  ///< what the last claim came to
  std::optional<Instant> free_at_;  ///< when an item may become free, as a claim saw it
  std::optional<Instant> wake_due_;
  Instant looked_at_{};   ///< the last look or whole pass
  Instant woke_at_{};     ///< the last claim for a wake
  Instant claimed_at_{};  ///< the last claim was answered

  std::optional<Instant> whole_at_;  ///< when the ends are no longer enough
};

}  // namespace w8y::source

// Source of a circular list. It decides how much of the list a claim scans, and whether a poll of
// an idle list peeks or claims.
//
// Idle lists share commands for peeks. If the reply to a peek shows that a claim is worthwhile, the
// list claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/clock.hpp"
#include "core/idle_polls.hpp"
#include "source/claiming_source.hpp"
#include "source/prefetch.hpp"
#include "store/circular/list.hpp"

namespace w8y::source {

class CircularSource final : public ClaimingSource, private store::CircularListHandler {
 public:
  using MakeList = std::function<std::unique_ptr<store::CircularList>(store::CircularListHandler&)>;
  CircularSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler, const MakeList& make);
  ~CircularSource() override;

  bool claim_item(const Item& item, ItemClaimed then) override;
  [[nodiscard]] PrefetchCount prefetch_count(const RunRate& rate) const override {
    return {prefetch(rate), prefetch(rate)};
  }
  void stop_waiting() override;
  void settle(EndedRun&& run) override;
  void hand_back(const Claim& claim) override;

 private:
  /// Maximum length of a short scan, in calls, and the number of items that one call examines. A
  /// short scan may follow each freed item.
  static constexpr std::size_t short_pass = 4;
  static constexpr std::size_t items_per_call = 256;
  static bool is_long(std::size_t calls) { return calls > short_pass; }
  /// Time since `polled_at_` after which a poll peeks, even if it is due because a certain item
  /// becomes free.
  static constexpr Duration look_at_least = std::chrono::seconds(2);
  /// Why a peek is sent.
  enum class After : std::uint8_t {
    none,      ///< a poll is due
    change,    ///< Redis reported a change, or a claim ended the tracking of the list
    addition,  ///< a change within `additions_last` after an addition, while no other host waits.
               ///< The list is busy, so the peek costs no idle budget, unless it reads much.
  };
  /// Minimum time between two peeks after changes. The time is eight times longer after each peek
  /// that found nothing, up to `long_change_pause`: a claim of another host rotates the list, which
  /// is a change as well. The time starts with `slow_change_pause` if the idle budget has no
  /// surplus, or if other hosts wait. They peek too, so the time is then random, and grows with
  /// their number. Soon after an addition, the time is always `change_pause`. Peeks that must wait
  /// are due at multiples of the first time, so that lists can share commands.
  static constexpr Duration change_pause = std::chrono::milliseconds(5);
  static constexpr Duration slow_change_pause = std::chrono::milliseconds(50);
  static constexpr Duration long_change_pause = std::chrono::milliseconds(300);
  /// Time after an addition in which further changes are expected to be additions, and the number
  /// of fruitless peeks that end this time.
  static constexpr Duration additions_last = std::chrono::seconds(1);
  static constexpr std::uint8_t most_after_addition = 16;
  /// Cost of a peek at the end of a list of short items, in commands.
  static constexpr double usual_cost = 2;
  /// Minimum time between peeks after changes while a full scan is due later. Claims then replace
  /// most polls, and the list must be tracked again after each claim.
  static constexpr Duration owing_change_pause = std::chrono::seconds(1);
  /// Number of consecutive peeks after changes that examine only the end or the length of the list
  /// and find nothing. The next peek after a change examines the next items, and so does each
  /// fourth one after it.
  static constexpr std::uint8_t most_after_change = 5;
  /// Value of looks_in_vain_ after a fruitless peek at the next items.
  static constexpr std::uint8_t after_items = most_after_change - 3;
  /// Number of consecutive claims that do not find the item of a peek, after which a full scan
  /// follows.
  static constexpr std::uint8_t most_searches = 4;
  /// Interval of claims in the wait queue: with one other waiter, the addition for each further
  /// waiter, and the maximum. Up to sixty hosts together thus claim from a list once per second.
  /// The interval doubles after each claim that found nothing. The maximum is the time for which
  /// Redis keeps a waiter that does not claim (claim.lua).
  static constexpr Duration least_renewal = std::chrono::seconds(3);
  static constexpr Duration more_renewal = std::chrono::seconds(1);
  static constexpr Duration most_renewal = std::chrono::minutes(1);
  static constexpr std::uint8_t most_in_vain = 5;
  /// Time that is added to the delay of an item when this host plans a poll for its end. The delay
  /// starts when Redis executes the settlement, and settlements are batched for some ms
  /// (settlements.hpp).
  static constexpr Duration settled_within = std::chrono::milliseconds(7);

  // store::CircularListHandler
  void on_looked(const store::LookReply& reply) override;
  void on_wake() override;
  void on_located() override { woken(); }
  void on_turn() override { woken(true); }
  void on_back() override;
  void on_changed() override;
  // ClaimingSource
  [[nodiscard]] store::WorkQueue& queue() const override { return *list_; }
  void send_claim(std::size_t wanted) override;
  void prepare(ClaimReply& reply) override;
  void examine(const ClaimReply& reply, bool woken) override;
  [[nodiscard]] double poll_cost() const override { return may_look() ? list_->look_cost() : 1; }
  void poll(bool hinted) override;
  void poll_after_reconnect() override;
  [[nodiscard]] std::optional<double> pay_for_wake(bool turn) override;
  bool on_idle(bool found) override;
  [[nodiscard]] Instant look_due() const override {
    return may_look() ? std::min(look_due_, many_due_) : Instant::max();
  }
  void on_active() override;
  void on_unused_turn() override { list_->leave_queue(); }

  void plan_look_after_change();
  void look();
  [[nodiscard]] bool looks_at_many();
  void pay_for(const ClaimReply& reply);
  void note_freed();
  void follow_end();
  [[nodiscard]] bool may_look() const;
  [[nodiscard]] store::Look look_after_change();
  void claim_overdue();
  [[nodiscard]] bool long_waiting() const;
  [[nodiscard]] bool renews_place();

  std::unique_ptr<store::CircularList> list_;
  std::uint32_t held_ = 0;        ///< claims that are neither settled nor handed back
  std::uint32_t pass_calls_ = 0;  ///< number of calls of the last full scan
  After planned_ = After::none;   ///< cause of the planned peek
  bool searches_ = false;         ///< the next claim searches for the item that a peek has found
  std::uint8_t searches_in_vain_ = 0;  ///< consecutive claims that did not find it
  After sent_ = After::none;           ///< cause of the peek in flight
  std::uint8_t looks_in_vain_ = 0;     ///< consecutive peeks after changes that found nothing
  bool looks_for_back_ = false;        ///< the peek in flight follows a reconnect
  std::uint8_t in_vain_ = 0;  ///< consecutive claims that only renewed the position in the wait
                              ///< queue
  // Extent of the next scan.
  // An idle list has few bytes, so these share one.
  bool scarce_ : 1 = false;      ///< the next scan covers only the edges, see examine()
  bool owes_whole_ : 1 = false;  ///< an item has become free; a full scan follows if the edges do
                                 ///< not have it
  bool tells_addition_ : 1 = false;    ///< a wake-up, or a peek after a change, has found an item
  bool overdue_ : 1 = false;           ///< the next claim ignores the wait queue, see store::Manner
  Instant looked_at_{};                ///< time of the last peek or full scan
  Instant polled_at_{};                ///< the same without peeks after additions
  Instant added_at_{};                 ///< time of the last claim after these that found an item
  Instant look_due_ = Instant::max();  ///< time of the peek after a change; max() = none
  Instant many_due_ = Instant::max();  ///< time of the next peek at many items of a long list
  Instant whole_at_ = Instant::max();  ///< time at which a full scan replaces the edge scan
};

}  // namespace w8y::source

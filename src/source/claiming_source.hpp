// Base class of the sources of work in Redis. It decides when a list claims.
//
// A list becomes idle when a claim returns fewer items than requested. An idle list claims or
// peeks after a wake-up, when an item may become free, or when a poll is due that the idle budget
// covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/clock.hpp"
#include "core/idle_polls.hpp"
#include "core/source.hpp"
#include "store/work_queue.hpp"

namespace w8y::source {

/// Source of one list. A derived class per kind of work owns the store of the items and settles
/// runs. It also decides which items a claim examines, and how an idle list is polled.
class ClaimingSource : public Source,
                       protected virtual store::WorkQueueHandler,
                       protected IdlePolls::Sleeper {
 public:
  void use(ListConfigPtr rule) override;
  [[nodiscard]] bool may_claim() const override { return !idle_; }
  void claim(std::size_t wanted) override;
  void stop_waiting() override;
  void retire() override;
  void hand_back(const Claim& claim) override { queue().hand_back(claim); }
  [[nodiscard]] bool may_start(const Claim& claim) const override {
    return queue().may_start(claim);
  }
  void announce(const RunEvent& event) override { queue().announce(event); }
  [[nodiscard]] std::size_t unsettled() const override { return queue().unsettled(); }

 protected:
  ClaimingSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler);

  // ---- Decisions of the kind of work

  [[nodiscard]] virtual store::WorkQueue& queue() const = 0;
  /// Sends a claim to the store. on_claimed() follows.
  virtual void send_claim(std::size_t wanted) = 0;
  /// Called with each reply to a claim, before all other uses. May change the reply.
  virtual void prepare(ClaimReply& /*reply*/) {}
  /// Called with the reply to a claim, unless stop_waiting() was called during the claim. `woken`:
  /// an item may have become free during the claim, so an empty reply may be outdated.
  virtual void examine(const ClaimReply& /*reply*/, bool /*woken*/) {}
  /// Returns the expected cost of a poll, in commands.
  [[nodiscard]] virtual double poll_cost() const { return 1; }
  /// Called when a poll of the idle list is due. `hinted`: it is due because an item may have
  /// become free.
  virtual void poll(bool hinted);
  /// Called when the idle list is admitted after a reconnect.
  virtual void poll_after_reconnect() { claim_now(); }
  /// Charges the idle budget for a claim after a wake-up. The argument is `turn`, as in woken().
  /// Returns the charge, or nullopt if the claim must wait for the budget. By default there is no
  /// charge: jobs are claimed at once, and only the pauses between fruitless claims limit them.
  [[nodiscard]] virtual std::optional<double> pay_for_wake(bool) { return 0; }
  /// Called when the list becomes idle, before a poll is planned. `found`: the claim has found
  /// items. Returns whether it has sent a peek that shows additions during the claim.
  virtual bool on_idle(bool /*found*/) { return false; }
  /// Returns the time of the next peek that the list has planned itself; Instant::max() without
  /// one.
  [[nodiscard]] virtual Instant look_due() const { return Instant::max(); }
  /// Called by activate(), even if the list was not idle.
  virtual void on_active() {}
  /// Called when the list cannot use a wake-up, since no slot is free.
  virtual void on_unused_turn() {}

  // ---- Events of the store

  /// Must be called when the store reports that an item may be free. `turn`: the item belongs
  /// to this host.
  void woken(bool turn = false);
  // store::WorkQueueHandler
  void on_back() override;

  // ---- State

  [[nodiscard]] bool is_idle() const { return idle_; }
  [[nodiscard]] bool in_flight() const { return in_flight_; }
  [[nodiscard]] ClaimEnd last_end() const { return last_; }
  [[nodiscard]] WaitQueue wait_queue() const { return wait_queue_; }
  [[nodiscard]] unsigned other_waiters() const { return other_waiters_; }
  /// Returns the interval factor of polls. Redis notifies a waiter of its turn, so polls only find
  /// changes that no message reports. Up to two waiters poll as often as without a wait queue; more
  /// waiters poll less often.
  [[nodiscard]] unsigned patience() const { return 1U + other_waiters_ / 2U; }
  [[nodiscard]] Instant claimed_at() const { return claimed_at_; }
  /// Must be called before a peek. Cancels the requested poll: the reply to the peek decides when
  /// the next poll is due.
  void begin_peek();
  /// Must be called with the reply to a peek. Returns false if the idle state has ended since the
  /// peek was sent, so the reply must be ignored.
  bool end_peek() { return std::exchange(peeking_, false); }
  /// Records that an item may have become free. If a claim has been sent, its reply is outdated if
  /// it is empty.
  void outdate_claim() { woken_ = woken_ || (in_flight_ && !claim_waits_); }
  /// Ends the idle state, and cancels the requested poll, the planned claim and the peek.
  void activate();
  /// Ends the idle state and calls on_may_claim(). If a claim after a wake-up is due, the claim
  /// counts as this claim.
  void claim_now();
  /// If the list is idle, requests a poll for the time at which an item becomes free.
  void expect_free(Instant at);
  /// Requests the next poll. `cost`: its expected cost, in commands.
  void sleep_on(double cost) {
    sleep({hint(), patience(), cost, look_due() <= first_hint(), is_reported()});
  }
  /// Must be called with the cost of a tracked peek; 0: none was sent. It is no cost of an idle
  /// list if the list is often empty because it is busy. Returns whether it was sent.
  bool pay_for_peek(double cost, bool found) {
    if (!found) charge(cost);
    return cost > 0;
  }
  /// Plans the next poll of an idle list again, since look_due() is earlier now.
  void plan_look() {
    if (idle_ && !peeking_) sleep_on(poll_cost());
  }

  const Clock& clock_;
  double paid_ = 0;  ///< commands charged to the idle budget for the claim or peek in flight

 private:
  /// Minimum time between two claims after wake-ups, if the first claim found nothing. It is short,
  /// because a second report of one addition causes a claim that finds nothing and delays the claim
  /// of the next item. It is four times longer after each further claim that finds nothing, up to
  /// `most_fruitless` claims. For a claim in a turn, the limit is `most_fruitless_turns`: the time
  /// must be shorter than a turn (250 ms).
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(1);
  static constexpr std::uint8_t most_fruitless = 5;
  static constexpr std::uint8_t most_fruitless_turns = 4;
  /// If other hosts wait, this host delays a claim after a wake-up by a random time below this,
  /// unless the item belongs to this host.
  static constexpr Duration wake_spread = std::chrono::milliseconds(50);

  // store::WorkQueueHandler
  void on_claimed(ClaimReply&& reply) final;
  void on_lease_lost(const RunId& run) final { told_.on_lease_lost(run); }
  void on_lease_back(const RunId& run) final { told_.on_lease_back(run); }
  void on_lease_expiring(const RunId& run) final { told_.on_lease_expiring(run); }
  void on_given_up(const RunId& run, const std::string& why) final { told_.on_given_up(run, why); }
  void on_quarantined(const DisplayItem& item, const std::string& why) final {
    told_.on_quarantined(item, why);
  }
  void on_unwritten(const std::string& why) final { told_.on_unwritten(why); }
  void on_all_settled() final { told_.on_all_settled(); }
  // IdlePolls::Sleeper
  void poll_due(bool hinted, double paid) override;
  void back_due() override;

  /// Returns whether the list is empty and Redis reports all additions. Then no item becomes free
  /// without a notification.
  [[nodiscard]] bool is_reported() const {
    return last_ == ClaimEnd::empty && queue().hears() && !queue().may_miss();
  }
  [[nodiscard]] bool become_idle(const ClaimReply& reply);
  [[nodiscard]] bool begin_wake(bool turn);
  void end_wake();
  [[nodiscard]] Instant first_hint() const;
  [[nodiscard]] std::optional<Duration> hint() const;

  SourceHandler& told_;
  std::uint32_t wanted_ = 0;
  std::uint32_t other_waiters_ = 0;
  bool in_flight_ = false;     ///< whether a claim is in flight
  bool claim_waits_ = false;   ///< the claim in flight waits for admission
  bool admitted_ = false;      ///< whether IdlePolls has admitted the list since use() or
                               ///< stop_waiting()
  bool still_wanted_ = false;  ///< false after stop_waiting(), until the next claim
  bool woken_ = false;         ///< an item may have become free during the claim, so an empty reply
                               ///< may be outdated
  bool turn_ = false;          ///< the host got its turn during the claim
  bool for_wake_ = false;      ///< the claim follows a wake-up
  bool idle_ = false;
  bool peeking_ = false;
  std::uint8_t fruitless_ = 0;  ///< consecutive wake-ups whose claim found nothing
  WaitQueue wait_queue_ = WaitQueue::none;
  ClaimEnd last_ = ClaimEnd::more;   ///< end of the last claim
  std::optional<Instant> free_at_;   ///< time at which an item may become free
  std::optional<Instant> wake_due_;  ///< time of the planned claim after a wake-up
  Instant woke_at_{};                ///< time of the last claim after a wake-up
  Instant claimed_at_{};             ///< time of the last reply to a claim
};

}  // namespace w8y::source

// Base of the sources in Redis: decides when to claim.
//
// A list becomes idle when a claim finds too little. It ends that state after a notification, when
// an item may become free, or with the next poll that the idle budget of the host covers.
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

/// Source of a kind of work. A derived class owns the store of the items and implements
/// settlements. It is the policy of its kind: which items a claim examines, and how an idle list is
/// polled.
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

  // ---- Policy

  [[nodiscard]] virtual store::WorkQueue& queue() const = 0;
  /// Sends a claim to the store. on_claimed() follows.
  virtual void send_claim(std::size_t wanted) = 0;
  /// Called first with each reply.
  virtual void prepare(ClaimReply& /*reply*/) {}
  /// Called with the reply to a claim, unless stop_waiting() was called during it. `woken`: the
  /// reply may be outdated.
  virtual void examine(const ClaimReply& /*reply*/, bool /*woken*/) {}
  /// Returns the expected cost of a poll, in commands.
  [[nodiscard]] virtual double poll_cost() const { return 1; }
  /// Called when a poll of the idle list is due. `hinted`: the time at which an item may become
  /// free has come.
  virtual void poll(bool /*hinted*/) { claim_now(); }
  /// Called when the idle list is admitted after a reconnect.
  virtual void poll_after_reconnect() { claim_now(); }
  /// Called when the idle state ends.
  virtual void on_active() {}
  /// Called when no slot is free for a claim after a wake-up.
  virtual void on_unused_turn() {}

  // ---- Events of the store

  /// Must be called when an item may be free. `turn`: it belongs to this host.
  void woken(bool turn = false);
  // store::WorkQueueHandler
  void on_back() override;

  // ---- State

  [[nodiscard]] bool is_idle() const { return idle_; }
  [[nodiscard]] bool in_flight() const { return in_flight_; }
  [[nodiscard]] ClaimEnd last_end() const { return last_; }
  [[nodiscard]] WaitQueue wait_queue() const { return wait_queue_; }
  [[nodiscard]] unsigned other_waiters() const { return other_waiters_; }
  [[nodiscard]] Instant claimed_at() const { return claimed_at_; }
  /// Called before a peek. Its reply decides about the next poll.
  void begin_peek();
  /// Returns false if the reply to the peek must be ignored.
  bool end_peek() { return std::exchange(peeking_, false); }
  /// Makes an empty reply to the claim in flight outdated.
  void outdate_claim() { woken_ = woken_ || (in_flight_ && !claim_waits_); }
  /// Ends the idle state.
  void activate();
  /// Ends the idle state, so that the handler claims. The claim is also for a wake-up that waits.
  void claim_now();
  /// Plans a poll for the time at which an item becomes free, if the list is idle.
  void expect_free(Instant at);
  /// Sleeps until the next poll. `cost`: its expected cost, in commands.
  void sleep_on(double cost) { sleep({hint(), patience(), cost}); }

  const Clock& clock_;
  double paid_ = 0;  ///< commands charged to the idle budget for the claim or peek in flight

 private:
  /// Pause after a wake-up whose claim found nothing. It doubles with each consecutive wake-up of
  /// this kind. After any other wake-up, the host claims at once, or at a random time within
  /// `wake_spread` if other hosts wait.
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(10);
  static constexpr std::uint8_t most_fruitless = 6;
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

  [[nodiscard]] unsigned patience() const;
  void become_idle(const ClaimReply& reply);
  [[nodiscard]] bool begin_wake(bool turn);
  void end_wake();
  [[nodiscard]] std::optional<Duration> hint() const;

  SourceHandler& told_;
  std::uint32_t wanted_ = 0;
  std::uint32_t other_waiters_ = 0;
  bool in_flight_ = false;    ///< whether a claim is in flight
  bool claim_waits_ = false;  ///< the claim has not been sent yet
  bool admitted_ = false;     ///< whether the list may send its first claim; IdlePolls admits lists
                              ///< in batches
  bool still_wanted_ = false;  ///< false after stop_waiting(), until the next claim
  bool woken_ = false;         ///< a wake-up arrived during the claim, so an empty result may be
                               ///< outdated
  bool turn_ = false;          ///< the host got its turn during the claim
  bool for_wake_ = false;      ///< the claim follows a wake-up
  bool idle_ = false;
  bool peeking_ = false;
  std::uint8_t fruitless_ = 0;  ///< consecutive wake-ups whose claim found nothing
  WaitQueue wait_queue_ = WaitQueue::none;
  ClaimEnd last_ = ClaimEnd::more;  ///< end of the last claim
  std::optional<Instant> free_at_;  ///< time at which an item may become free
  std::optional<Instant> wake_due_;
  Instant woke_at_{};     ///< time of the last claim after a wake-up
  Instant claimed_at_{};  ///< time of the last reply to a claim
};

}  // namespace w8y::source

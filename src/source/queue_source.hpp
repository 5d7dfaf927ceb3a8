// Base of sources that claim from queues: decides when to claim.
//
// A queue becomes idle when a claim finds nothing. It ends that state after a notification, when a
// pause may have ended, or with the next poll that the idle budget of the host covers.
#pragma once

#include <cstddef>

#include "core/clock.hpp"
#include "core/idle_polls.hpp"
#include "core/source.hpp"
#include "store/work_queue.hpp"

namespace w8y::source {

/// Source of a kind of work. A derived class owns the queue, passes its callbacks on, and
/// implements settlements.
class QueueSource : public Source, private IdlePolls::Sleeper {
 public:
  [[nodiscard]] bool may_claim() const override { return !resting_; }
  void claim(std::size_t wanted) override;
  void stop_waiting() override;
  void hand_back(const Claim& claim) override { queue().hand_back(claim); }
  [[nodiscard]] bool may_start(const Claim& claim) const override {
    return queue().may_start(claim);
  }
  void announce(const RunEvent& event) override { queue().announce(event); }
  [[nodiscard]] std::size_t unsettled() const override { return queue().unsettled(); }

 protected:
  QueueSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler);

  [[nodiscard]] virtual store::WorkQueue& queue() const = 0;
  // The derived class forwards the callbacks of its queue to these functions.
  void taken(store::TakeReply&& reply);
  void news();
  void back();
  /// Called when the list config has changed.
  void renewed();

 private:
  /// Pause after a wake-up whose claim found nothing. It doubles with each consecutive wake-up of
  /// this kind.
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;
  /// Factor by which the poll interval of an empty queue is longer while Redis notifies this host
  /// of added jobs.
  static constexpr unsigned when_it_hears = IdlePolls::most_patience;

  // IdlePolls::Sleeper
  void poll_due(bool hinted, double paid) override;
  void back_due() override;

  void rest(const store::TakeReply& reply, bool woken);
  void end_rest();
  void stir();

  const Clock& clock_;
  SourceHandler& told_;
  std::size_t wanted_ = 0;
  bool out_ = false;     ///< whether a claim is in flight
  bool let_in_ = false;  ///< whether the list may send its first claim; IdlePolls admits lists
                         ///< in batches
  bool still_wanted_ = false;  ///< false after stop_waiting(), until the next claim
  bool woken_ = false;         ///< a wake-up arrived during the claim, so an empty result may be
                               ///< outdated
  bool for_wake_ = false;      ///< the claim follows a wake-up
  bool wake_waits_ = false;  ///< the list is idle until the planned time of a claim after a wake-up
  bool resting_ = false;
  unsigned fruitless_ = 0;  ///< consecutive wake-ups whose claim found nothing
  Instant woke_at_{};       ///< time of the last claim after a wake-up
  double paid_ = 0;         ///< commands charged to the idle budget for the claim in flight
};

}  // namespace w8y::source

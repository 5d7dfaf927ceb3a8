// Sources that take work out of queues: when that is worth it.
//
// What found nothing rests, until something is heard to have come, a pause may be over, or its turn
// comes to spend some of the host's idle budget.
#pragma once

#include <cstddef>
#include <optional>

#include "core/clock.hpp"
#include "core/idle_polls.hpp"
#include "core/source.hpp"
#include "store/work_queue.hpp"

namespace w8y::source {

/// A kind of work has its queue, and tells what that says; and it says what the end of a run means.
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
  // What the queue says.
  void taken(store::TakeReply&& reply);
  void news();
  void back();
  /// It has another rule.
  void renewed();

 private:
  /// For each wake that found nothing, the next one waits twice as long.
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;
  /// How many times longer an empty queue rests that would hear of what is added.
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
  bool out_ = false;           ///< a claim is
  bool let_in_ = false;        ///< the first claims of all lists are paced by their answers
  bool still_wanted_ = false;  ///< since it was asked for, nobody said that nothing is wanted
  bool woken_ = false;         ///< something woke us meanwhile: its "nothing" may be old
  bool for_wake_ = false;      ///< the claim is for a wake
  bool wake_waits_ = false;    ///< at rest, for its time to come
  bool resting_ = false;
  unsigned fruitless_ = 0;  ///< claims for wakes, in a row, that found nothing
  Instant woke_at_{};       ///< the last one
  double paid_ = 0;         ///< of the idle budget, for the claim that is out
};

}  // namespace w8y::source

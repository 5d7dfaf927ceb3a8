// Jobs of a schedule as a Source: when it is worth taking some out of their queues.
//
// What found nothing rests, until a queue is heard to have something, a pause or HALT may be over,
// or its turn comes to spend some of the host's idle budget.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <w8y/clock.hpp>
#include <w8y/idle_polls.hpp>
#include <w8y/source.hpp>

#include "source/claim_relay.hpp"
#include "store/schedule/queue.hpp"

namespace w8y::source {

class ScheduleSource final : public Source,
                             private ClaimRelay<store::ScheduleQueueHandler>,
                             private IdlePolls::Sleeper {
 public:
  using MakeQueue =
      std::function<std::unique_ptr<store::ScheduleQueue>(store::ScheduleQueueHandler&)>;
  ScheduleSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                 const MakeQueue& make);
  ~ScheduleSource() override;

  void use(RulePtr rule) override;
  [[nodiscard]] bool may_claim() const override { return !resting_; }
  void claim(std::size_t wanted) override;
  void stop_waiting() override;
  void retire() override;
  void settle(EndedRun&& run) override;
  void hand_back(const Claim& claim) override { queue_->hand_back(claim); }
  [[nodiscard]] bool may_start(const Claim& claim) const override {
    return queue_->may_start(claim);
  }
  void announce(const RunEvent& event) override { queue_->announce(event); }
  [[nodiscard]] std::size_t unsettled() const override { return queue_->unsettled(); }

 private:
  /// For each wake that found nothing, the next one waits twice as long.
  static constexpr Duration first_wake_pause = std::chrono::milliseconds(10);
  static constexpr unsigned most_fruitless = 6;

  // store::ScheduleQueueHandler
  void on_taken(store::TakeReply&& reply) override;
  void on_news(store::ScheduleNews news) override;
  void on_dispatched(store::DispatchAnswer&&) override {}  // the Dispatcher has a queue of its own
  void on_recovered(std::size_t, std::optional<Duration>) override {}
  void on_back() override;
  // IdlePolls::Sleeper
  void poll_due(bool hinted, double paid) override;
  void back_due() override;

  void rest(const std::optional<Duration>& next);
  void end_rest();
  void stir();

  const Clock& clock_;
  std::unique_ptr<store::ScheduleQueue> queue_;
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

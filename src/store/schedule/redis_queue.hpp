// Schedules in Redis, with the keys of w8y-keys(7).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/timers.hpp"
#include "store/later_calls.hpp"
#include "store/recovery.hpp"
#include "store/redis_session.hpp"
#include "store/schedule/claims.hpp"
#include "store/schedule/news_channels.hpp"
#include "store/schedule/queue.hpp"
#include "store/schedule/refusals.hpp"
#include "store/schedule/settlements.hpp"
#include "store/schedule/timeline_review.hpp"

namespace w8y::store {

class RedisScheduleQueue final : public ScheduleQueue,
                                 private SessionUser,
                                 private ScheduleClaimer::Handler,
                                 private redis::Client::Listener {
 public:
  RedisScheduleQueue(std::shared_ptr<RedisSession> session, DecideNextStep decide,
                     ScheduleQueueHandler& handler);
  ~RedisScheduleQueue() override;

  void use(ListConfigPtr rule) override;
  void claim(std::size_t wanted) override;
  void dispatch() override;
  void recover() override;
  void listen(bool on) override {
    news_.listen(on ? ScheduleNewsChannels::About::jobs : ScheduleNewsChannels::About::nothing,
                 *rule_);
  }
  [[nodiscard]] double listen_to_timeline() override {
    timeline_review_.use(rule_);
    news_.listen(ScheduleNewsChannels::About::timeline, *rule_);
    return next_due_ ? news_.track_timeline(*next_due_) : 0;
  }
  [[nodiscard]] bool hears() const override { return news_.hears_queues(); }
  [[nodiscard]] bool may_miss() const override { return session_->in_cluster; }
  [[nodiscard]] double track() override { return news_.track_queues(); }
  /// Returns the time of the Redis clock, or an earlier one; 0 = not known yet.
  [[nodiscard]] std::chrono::milliseconds redis_now() const;
  void settle(JobSettlement&& settlement) override;
  void hand_back(const Claim& claim) override;
  [[nodiscard]] bool may_start(const Claim& claim) const override;
  void announce(const RunEvent& event) override;
  [[nodiscard]] std::size_t unsettled() const override { return ends_.size(); }

 private:
  // Passed by value: the handler may end the lease, which destroys the lease's own copy.
  void lease_lost(RunId run) override { handler_.on_lease_lost(run); }
  void lease_back(RunId run) override { handler_.on_lease_back(run); }
  void lease_expiring(RunId run) override { handler_.on_lease_expiring(run); }
  // ScheduleClaimer::Handler
  void before_call(ScheduleClaims::Open& open) override;
  void on_result(ScheduleClaims::Open& open, ScheduleClaimResult& result) override;
  void has_room() override {}  // jobs of schedules never wait for memory
  // redis::Client::Listener
  void on_up() override;
  void on_down(const std::string&) override {}

  void put_down(const RunId& run, EndCall&& end);
  [[nodiscard]] const ScheduleKeys& keys() const { return store_->keys(); }
  std::string new_tag();
  void note_time(std::chrono::milliseconds redis_time);

  /// Decides about jobs whose time was missed.
  [[nodiscard]] std::vector<MissedDecision> decide(std::vector<MissedJob>&& missed,
                                                   UnixSeconds now) const;

  ScheduleQueueHandler& handler_;
  const DecideNextStep decide_;
  std::vector<MissedDecision> decisions_;  ///< for the next dispatch
  /// Time of the earliest job on the timeline after the last dispatch, in seconds since 1970;
  /// nullopt if it was halted or failed.
  std::optional<double> next_due_;
  ListConfigPtr rule_;
  std::shared_ptr<ScheduleLeaseStore> store_;
  std::vector<std::string> queues_;
  std::size_t place_ = 0;  ///< queue at which the next claim starts
  ClaimMemory memory_;
  ScheduleClaimer claimer_;
  Refusals refusals_;
  TimelineReview timeline_review_;
  ScheduleSettlements ends_;
  LaterCalls later_;
  Recovery recovery_;
  ScheduleNewsChannels news_;
  std::mt19937_64 random_;
  /// Time of the Redis clock, and the local time at which it was received. Redis may be ahead of
  /// the sum.
  std::optional<std::pair<std::chrono::milliseconds, Instant>> heard_time_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store

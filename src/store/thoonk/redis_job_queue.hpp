// Jobs of a feed in Redis, with the keys of w8y-keys(7).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/timers.hpp"
#include "store/later_calls.hpp"
#include "store/queue_keys.hpp"
#include "store/redis_session.hpp"
#include "store/thoonk/job_claims.hpp"
#include "store/thoonk/job_ends.hpp"
#include "store/thoonk/job_queue.hpp"

namespace w8y::store::thoonk {

class RedisJobQueue final : public JobQueue,
                            private SessionUser,
                            private Claimer<JobClaims>::Handler,
                            private redis::Client::Listener {
 public:
  RedisJobQueue(std::shared_ptr<RedisSession> session, JobQueueHandler& handler);
  ~RedisJobQueue() override;

  void use(ListConfigPtr rule) override;
  void claim(std::size_t wanted) override;
  void listen(bool on) override;
  [[nodiscard]] bool hears() const override {
    return ids_.tracked() && session_->subscriber.connected();
  }
  [[nodiscard]] bool may_miss() const override { return session_->in_cluster; }
  [[nodiscard]] double track() override { return ids_.track({keys().ids}); }
  void settle(JobSettlement&& settlement) override;
  void hand_back(const Claim& claim) override;
  [[nodiscard]] bool may_start(const Claim& claim) const override;
  void announce(const RunEvent& event) override;
  [[nodiscard]] std::size_t unsettled() const override { return ends_.size() + late_ends_.size(); }
  void retire() override;

 private:
  using Ends = Settlements<JobEnds>;
  /// A job whose run has failed. Its claim and lease are held until it is cancelled.
  struct HeldBack {
    std::shared_ptr<JobLeaseStore> store;
    std::string id;
    Instant until{};
    Leases::Lease lease;
  };

  // Passed by value: the handler may end the lease, which destroys the lease's own copy.
  void lease_lost(RunId run) override;
  void lease_back(RunId run) override;
  void lease_expiring(RunId run) override;
  // Claimer::Handler
  void before_call(JobClaims::Open&) override {
    ends_.send();  // one write for both
    claim_out_ = true;
  }
  void on_error(const redis::Answer&) override { claim_out_ = false; }
  void has_room() override { handler_.on_news(); }
  void on_result(JobClaims::Open&, JobClaimResult& result) override;
  // redis::Client::Listener
  void on_up() override;
  void on_down(const std::string&) override {}

  void put_down(const RunId& run, EndCall&& end, Ends::Wait wait);
  void hold_back(EndCall& end, LeaseTerms&& lease, Instant lease_ends);
  void cancel_due();
  void cancel_late(const RunId& run, HeldBack&& job);
  void tell_if_settled();
  Ends::Handler told_of_ends();
  [[nodiscard]] const FeedKeys& keys() const { return store_->keys(); }
  [[nodiscard]] std::string holder() const;

  JobQueueHandler& handler_;
  ListConfigPtr rule_;
  std::shared_ptr<JobLeaseStore> store_;
  ClaimMemory memory_;
  Claimer<JobClaims> claimer_;
  std::map<RunId, HeldBack> held_back_;
  bool retired_ = false;
  bool claim_out_ = false;  ///< the next settlement can share the write of the claim that follows
  Timer cancel_timer_;
  Ends ends_;
  /// Cancellations of delayed jobs. Separate from `ends_`, because settlements of the same runs may
  /// still be there.
  Ends late_ends_;
  redis::Subscription wake_;
  QueueKeys ids_;
  LaterCalls later_;
};

}  // namespace w8y::store::thoonk

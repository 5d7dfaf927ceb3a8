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
#include "store/lost_takes.hpp"
#include "store/redis_session.hpp"
#include "store/thoonk/job_ends.hpp"
#include "store/thoonk/job_lease_store.hpp"
#include "store/thoonk/job_queue.hpp"
#include "store/thoonk/job_take_call.hpp"

namespace w8y::store::thoonk {

/// Returns the call that recovers the claims of hosts that no longer exist. `rule`: of a list of
/// jobs.
RecoverCall recover_call(const FeedKeys& keys, const ListConfig& rule);

class RedisJobQueue final : public JobQueue,
                            private SessionUser,
                            private LeaseHandler,
                            private redis::Client::Listener {
 public:
  RedisJobQueue(std::shared_ptr<RedisSession> session, JobQueueHandler& handler);
  ~RedisJobQueue() override;

  void use(ListConfigPtr rule) override;
  void take(std::size_t wanted) override;
  void listen(bool on) override;
  [[nodiscard]] bool hears() const override;
  void settle(JobSettlement&& settlement) override;
  void hand_back(const Claim& claim) override;
  [[nodiscard]] bool may_start(const Claim& claim) const override;
  void announce(const RunEvent& event) override;
  [[nodiscard]] std::size_t unsettled() const override {
    return ends_.size() + late_ends_.size() + lost_takes_.size();
  }
  void retire() override;

 private:
  using Ends = Settlements<JobEnds>;
  /// State of a claim in flight: calls follow each other until a job was found or there are no
  /// more.
  struct Take {
    ListConfigPtr rule;
    std::shared_ptr<JobLeaseStore> store;
    std::size_t wanted = 0;
    std::vector<RunId> runs;
    Instant sent{};
    std::vector<TakeReply::Parked> parked;
  };
  /// Lease and memory of an active run.
  struct Held {
    std::shared_ptr<JobLeaseStore> store;
    Leases::Lease lease;
    ItemRoom::Hold room;
  };
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
  void on_up() override;
  void on_down(const std::string&) override {}

  void send_take();
  [[nodiscard]] bool has_room();
  void answer_later(TakeReply reply);
  void taken(const redis::Answer& answer, const RedisSession::LargeCall& made);
  void not_taken(const StoreError& trouble);
  Claim hold(const RunId& run, TakenJob&& job);
  [[nodiscard]] LeaseTerms terms(const RunId& run, const std::string& id, Instant claimed) const;
  void put_down(const RunId& run, EndCall&& end, Ends::Wait wait);
  void hold_back(const RunId& run, EndCall& end);
  void cancel_due();
  void cancel_late(const RunId& run, HeldBack&& job);
  void tell_if_settled();
  void hear_of_ids();
  Ends::Handler told_of_ends();
  [[nodiscard]] const FeedKeys& keys() const { return store_->keys(); }
  [[nodiscard]] static std::shared_ptr<const FeedKeys> keys_of(
      const std::shared_ptr<JobLeaseStore>& store) {
    return {store, &store->keys()};
  }
  [[nodiscard]] std::string holder() const;

  JobQueueHandler& handler_;
  ListConfigPtr rule_;
  std::shared_ptr<JobLeaseStore> store_;
  Timer room_timer_;
  ItemRoom::Member room_;
  std::size_t longest_ = 0;         ///< longest job in the last claim
  std::uint64_t newest_fence_ = 0;  ///< the largest fencing token that this host has seen
  Timer take_later_;
  Take take_;
  std::map<RunId, Held> held_;
  std::map<RunId, HeldBack> held_back_;
  bool retired_ = false;
  Timer cancel_timer_;
  Ends ends_;
  /// Cancellations of delayed jobs. Separate from `ends_`, because settlements of the same runs may
  /// still be there.
  Ends late_ends_;
  LostTakes lost_takes_;
  redis::Subscription wake_;
  redis::Subscription changes_;  ///< keyspace notifications of the IDs
  bool hears_changes_ = false;   ///< changes_ is confirmed
  LaterCalls later_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store::thoonk

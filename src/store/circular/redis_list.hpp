// Circular list in Redis, with the keys of w8y-keys(7).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "core/timers.hpp"
#include "store/circular/claims.hpp"
#include "store/circular/list.hpp"
#include "store/circular/settlements.hpp"
#include "store/later_calls.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

class RedisCircularList final : public CircularList,
                                private SessionUser,
                                private CircularClaimer::Handler,
                                private redis::Client::Listener,
                                private Sweep::Swept,
                                private LookBatcher::Empty,
                                private redis::MessageHandler {
 public:
  RedisCircularList(std::shared_ptr<RedisSession> session, CircularListHandler& handler);
  ~RedisCircularList() override;

  void use(ListConfigPtr rule) override;
  void claim(std::size_t wanted, Scan scan, Manner manner) override;
  void claim_item(const Item& item, Source::ItemClaimed then) override;
  void leave_queue() override;
  void look(Look what) override;
  [[nodiscard]] double look_cost() const override {
    const CircularShared& shared = session_->circular;
    return shared.look_batcher.cost(empty_, shared.sweep.lists());
  }
  void settle(Settlement&& settlement) override;
  void hand_back(const Claim& claim) override;
  [[nodiscard]] bool may_start(const Claim& claim) const override;
  void announce(const RunEvent& event) override;
  void listen(bool on) override;
  [[nodiscard]] bool hears() const override {
    return is_tracked() && session_->subscriber.connected();
  }
  [[nodiscard]] bool may_miss() const override { return session_->in_cluster; }
  [[nodiscard]] bool can_hear() const override;
  void may_stop_listening() override;
  [[nodiscard]] std::size_t unsettled() const override { return work_ ? work_->unsettled() : 0; }

 private:
  /// State for claims and runs. Made with the first of them and freed when the list is idle, so
  /// that ten thousand idle lists have none.
  struct Work {
    explicit Work(RedisCircularList& list);
    [[nodiscard]] std::size_t unsettled() const { return settlements ? settlements->size() : 0; }
    /// Returns whether no part of it is in use or waits.
    [[nodiscard]] bool over() const;

    std::shared_ptr<CircularLeaseStore> store;  ///< nullptr until used, and after a change of the
                                                ///< list config
    CircularClaimer claimer;
    std::unique_ptr<CircularSettlements> settlements;
    LaterCalls later;
    Timer tires;           ///< unsubscribes while on_wake() is not requested
    unsigned in_vain = 0;  ///< messages received while on_wake() is not requested
    std::string near;      ///< positions near which the next claim searches, see CircularScan
    /// Subscription to the host's turns: made when the host joins the wait queue, and kept for as
    /// long as wake_.
    redis::Subscription turn;
    bool turn_heard = false;  ///< whether `turn` is confirmed
  };

  // Passed by value: the handler may end the lease, which destroys the lease's own copy.
  void lease_lost(RunId run) override { handler_.on_lease_lost(run); }
  void lease_back(RunId run) override { handler_.on_lease_back(run); }
  void lease_expiring(RunId run) override { handler_.on_lease_expiring(run); }
  /// The one-item wrapper does not run long enough for a sweep.
  [[nodiscard]] ListConfigPtr swept_rule() const override {
    return rule_ && rule_->supervised ? rule_ : nullptr;
  }
  // CircularClaimer::Handler
  void before_call(CircularClaims::Open& open) override;
  void on_result(CircularClaims::Open& open, ScanResult& result) override;
  void on_error(const redis::Answer& answer) override {
    session_->circular.locks.note_refusal(answer);
  }
  void complete(const CircularClaims::Open& open, const ScanResult& result,
                ClaimReply& reply) override;
  void no_room() override { leave_redis_queue(); }
  void has_room() override { handler_.on_turn(); }
  // redis::Client::Listener
  void on_up() override;
  void on_down(const std::string&) override {}

  const std::shared_ptr<CircularLeaseStore>& store();
  const CircularKeys& keys() { return store()->keys(); }
  Work& work();
  [[nodiscard]] std::size_t held() const { return work_ ? work_->claimer.held() : 0; }
  [[nodiscard]] const std::shared_ptr<bool>& alive();
  CircularSettlements& settlements();
  void leave_redis_queue();
  void note_length(const CircularScan& scan, const ScanResult& result);
  void put_down(const RunId& run, SettleCall&& call);
  [[nodiscard]] CircularSettlements::Wait wait_of_end(bool freed) const;
  void look_all_settled();
  // redis::MessageHandler
  void on_message(std::string_view channel, std::string_view message) override;
  void on_confirmed(std::string_view channel) override;
  // LookBatcher::Empty
  void add_key_of_list(std::string& to) const override { CircularKeys::add_list_of(*rule_, to); }
  void empty_looked(const LookReply& reply) override { looked(reply); }
  // Tracking::Key
  void on_key_changed() override { empty_ ? handler_.on_wake() : handler_.on_changed(); }
  void on_keys_flushed() override { handler_.on_changed(); }
  void looked(LookReply reply);
  void heard(std::string_view message);
  [[nodiscard]] bool search_near(std::string_view positions);
  void heard_of_turn(std::string_view message);
  [[nodiscard]] bool is_ours(std::string_view news) const;
  /// Returns whether this host receives its turn, or will as soon as it must wait. A waiter that
  /// does not would delay the others, because each waiter that gets the turn has some time to
  /// claim.
  [[nodiscard]] bool hears_of_turn() const {
    if (!session_->subscriber.error().empty()) return false;
    return work_ && work_->turn ? work_->turn_heard : rule_->supervised;
  }
  void stop_listening();
  void hear_of_no_turn();
  void tire(Instant at);
  void give_up(const RunId& run, const std::string& why);
  void put_away();
  [[nodiscard]] std::string lock_value(const RunId& run) const;

  CircularListHandler& handler_;
  ListConfigPtr rule_;
  bool all_taken_ = true;  ///< the last claim left no free item
  bool empty_ = true;      ///< the last claim found no item at all
  bool waiting_ = false;   ///< whether the host is in the wait queue, according to the last claim
  bool waits_ = false;     ///< false if leave_queue() was called after the last claim
  WaitQueue wait_queue_ = WaitQueue::none;
  std::unique_ptr<Work> work_;
  std::shared_ptr<bool> alive_;  ///< nullptr until a callback needs it
  redis::Subscription wake_;
  /// Length of the list when all of its items were known to be locked; -1 = unknown.
  std::int64_t length_ = 0;
  std::int64_t place_ = 0;  ///< index at which the next peek starts
  ClaimMemory memory_;
};

}  // namespace w8y::store

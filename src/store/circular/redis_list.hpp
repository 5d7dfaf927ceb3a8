// A circular list in Redis: its keys are those of w8y-keys(7).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/timers.hpp"
#include "store/circular/list.hpp"
#include "store/circular/lost_claims.hpp"
#include "store/circular/settlements.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

class RedisCircularList final : public CircularList,
                                private SessionUser,
                                private LeaseHandler,
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
  void leave_line() override;
  void look() override;
  [[nodiscard]] double look_cost() const override {
    const CircularShared& shared = session_->circular;
    return shared.look_batcher.cost(empty_, shared.sweep.lists());
  }
  void settle(Settlement&& settlement) override;
  void hand_back(const Claim& claim) override;
  [[nodiscard]] bool may_start(const Claim& claim) const override;
  void announce(const RunEvent& event) override;
  void listen(bool on) override;
  void may_stop_listening() override;
  [[nodiscard]] std::size_t unsettled() const override { return work_ ? work_->unsettled() : 0; }

 private:
  /// A claim that is out, call by call until something was found or the pass is over.
  struct Pass {
    ListConfigPtr
        rule;  ///< a reload may come before the answer: what is locked is locked by this one
    std::shared_ptr<const CircularKeys> keys;
    std::size_t wanted = 0;
    std::int64_t left = ClaimCall::new_pass;
    std::size_t calls = 0;
    std::optional<Duration> next_free;  ///< the soonest that a call has seen
    std::int64_t length = 0;            ///< of the list, at the first call
    bool overdue = false;
    std::vector<DisplayItem> parked;
  };
  /// What a run holds in Redis.
  struct Held {
    Leases::Lease lease;
    ItemRoom::Hold hold;
  };

  /// What claims and runs need. Made with the first of them and put away at rest: ten thousand
  /// lists at rest have none of it.
  struct Work {
    explicit Work(RedisCircularList& list);
    [[nodiscard]] std::size_t unsettled() const {
      return (settlements ? settlements->size() : 0) + (lost_claims ? lost_claims->size() : 0);
    }
    /// Nothing of it is used, or waits for something.
    [[nodiscard]] bool over() const;

    std::shared_ptr<const CircularKeys> keys;  ///< nullptr: of no rule yet, or of an old one
    Timer room_timer;
    ItemRoom::Member room;
    std::unordered_map<RunId, Held> held;  ///< outlived by the room
    std::unique_ptr<Pass> pass;
    std::unique_ptr<CircularSettlements> settlements;
    std::unique_ptr<LostClaims> lost_claims;
    std::vector<std::function<void()>> news;  ///< for the handler
    Timer tell;
    Timer scan_later;
    Timer look_again;            ///< after a change
    bool changed = false;        ///< since the last look
    unsigned looks_in_vain = 0;  ///< in a row, at changes
    Timer tires;                 ///< of listening, while nobody rests
    unsigned in_vain = 0;        ///< messages that were heard meanwhile
    /// Where it hears of its turn: made when it stands in the line, and kept for as long as wake_.
    redis::Subscription turn;
    bool turn_heard = false;  ///< that is confirmed
  };

  // By value: the handler may give the lease up, and the lease's own copy goes with it.
  void lease_lost(RunId run) override { handler_.on_lease_lost(run); }
  void lease_back(RunId run) override { handler_.on_lease_back(run); }
  void lease_expiring(RunId run) override { handler_.on_lease_expiring(run); }
  /// The one-item wrapper is not here for long enough.
  [[nodiscard]] ListConfigPtr swept_rule() const override {
    return rule_ && rule_->supervised ? rule_ : nullptr;
  }
  // of redis::Client::Listener
  void on_up() override;
  void on_down(const std::string&) override {}

  const std::shared_ptr<const CircularKeys>& keys();
  Work& work();
  [[nodiscard]] std::size_t held() const { return work_ ? work_->held.size() : 0; }
  [[nodiscard]] const std::shared_ptr<bool>& alive();
  CircularSettlements& settlements();
  void scan();
  [[nodiscard]] std::size_t may_hold() const;
  void hold_back();
  void answer_later(PassReply reply);
  void leave_redis_line();
  void scanned(const std::vector<RunId>& runs, Instant sent, const ClaimResult& result);
  void note_length(const ClaimResult& result);
  void look_for(const std::vector<RunId>& runs);
  void unavailable(const std::vector<RunId>& runs, const StoreError& trouble);
  Claim hold(const RunId& run, const Taken& taken, Instant sent, const ListConfigPtr& rule,
             const std::shared_ptr<const CircularKeys>& keys);
  Claim hold(const RunId& run, const Taken& taken, Instant sent) {
    return hold(run, taken, sent, work_->pass->rule, work_->pass->keys);
  }
  void put_down(const RunId& run, SettleCall&& call);
  [[nodiscard]] CircularSettlements::Wait wait_of_end(bool freed) const;
  void look_all_settled();
  // of redis::Hearer
  void on_message(std::string_view channel, std::string_view message) override;
  void on_confirmed(std::string_view channel) override;
  // of LookBatcher::Empty
  void add_key_of_list(std::string& to) const override { CircularKeys::add_list_of(*rule_, to); }
  void empty_looked(const LookReply& reply) override { looked(reply); }
  void looked(LookReply reply);
  void heard(std::string_view message);
  void heard_of_turn(std::string_view message);
  [[nodiscard]] bool is_ours(std::string_view news) const;
  /// Or will hear of it as soon as it has to wait. One that would not keeps the others waiting, for
  /// whoever is called has its time to come.
  [[nodiscard]] bool hears_of_turn() const {
    if (!session_->subscriber.error().empty()) return false;
    return work_ && work_->turn ? work_->turn_heard : rule_->supervised;
  }
  void stop_listening();
  void hear_of_no_turn();
  void tire(Instant at);
  void give_up(const RunId& run, const std::string& why);
  void tell_later(std::function<void()> tell);
  void hear_of_list();
  void list_changed();
  void look_again();
  void ask_if_locked(LookBatcher::Answer answer);
  void put_away();
  [[nodiscard]] std::string lock_value(const RunId& run) const;

  CircularListHandler& handler_;
  ListConfigPtr rule_;
  bool all_taken_ = true;  ///< the last claim left no free item
  bool empty_ = true;      ///< and there was none at all
  bool in_line_ = false;   ///< as the last claim had it
  bool waits_ = false;     ///< since the last claim was asked for, nobody left the line
  bool hears_ = false;     ///< changes_ is confirmed
  Line line_ = Line::none;
  std::unique_ptr<Work> work_;
  std::shared_ptr<bool> alive_;  ///< nullptr: nothing is out that would have to know
  redis::Subscription wake_;
  redis::Subscription changes_;
  std::int64_t length_ = 0;             ///< of the list, when all of it was looked at
  std::int64_t place_ = 0;              ///< in it: where the next look begins
  std::optional<std::size_t> longest_;  ///< item that the last call read
  std::uint64_t newest_fence_ = 0;      ///< the largest that we have seen
};

}  // namespace w8y::store

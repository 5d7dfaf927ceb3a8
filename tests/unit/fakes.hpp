// Fake host without processes, server or clock. The test controls all events and their times.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/served_list.hpp"
#include "source/circular/source.hpp"

namespace w8y::test {

class FakeClock : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] WallTime wall() const override {
    return std::chrono::duration_cast<WallTime>(now_.time_since_epoch());
  }
  void set(Instant now) { now_ = now; }

 private:
  Instant now_{std::chrono::hours(1000)};
};

/// Items in memory with their locks, shared like one Redis by all fake lists of a test.
struct FakeRedis {
  struct Lock {
    std::string value;
    std::optional<Instant> until;
  };
  std::map<std::string, std::deque<Item>> lists;
  std::map<std::string, Lock> locks;  // key: prefix + item
  std::map<std::string, unsigned> failures;
  std::vector<store::Settlement> history;
  bool reachable = true;
  bool settles = true;     ///< false: settlements stay pending
  std::string no_claims;   ///< why Redis refuses all claims; empty = it does not
  std::string no_records;  ///< why Redis refuses the part of settlements other than locks
  std::uint64_t fence = 0;
  unsigned run = 0;
  std::size_t claims = 0;
  std::size_t claims_out = 0;      ///< claims in flight
  std::size_t max_claims_out = 0;  ///< maximum number of claims in flight
  std::size_t peeks = 0;
  std::size_t peeks_after_change = 0;  ///< that do not examine all items
  std::size_t peeks_at_many = 0;
  std::size_t ends = 1000;     ///< number of items that a scan of the edges examines
  std::size_t pass_calls = 1;  ///< number of calls of a full scan
  double look_cost = 1;
  bool receives = false;
  bool tracks = false;
  bool locates = false;                    ///< whether a peek finds the position of a free item
  Item blocked;                            ///< a free item that no claim can lock
  Duration next_peek{};                    ///< LookReply::next
  WaitQueue wait_queue = WaitQueue::none;  ///< state of the wait queue after a claim without items
  std::size_t other_waiters = 0;
  ClaimEnd too_few = ClaimEnd::nothing_free;  ///< why a claim has fewer items than requested
  bool leases_end = false;                    ///< true: all leases are about to expire
  Duration claim_takes{0};
};

class FakeList : public store::CircularList {
 public:
  FakeList(FakeRedis& redis, FakeClock& clock, TimerQueue& timers, store::CircularListHandler& told)
      : redis_(redis),
        clock_(clock),
        answer_(timers),
        item_answer_(timers),
        settled_(timers),
        handler(told) {}

  void use(ListConfigPtr rule) override { rule_ = std::move(rule); }

  void claim(std::size_t wanted, store::Scan scan, store::Manner manner) override {
    manners.push_back(manner);
    ++redis_.claims;
    redis_.max_claims_out = std::max(redis_.max_claims_out, ++redis_.claims_out);
    scans.push_back(scan);
    ClaimReply reply;
    auto& items = redis_.lists[rule_->prefix];
    length_ = items.size();
    if (!redis_.reachable) {
      reply.end = ClaimEnd::unavailable;
    } else if (!redis_.no_claims.empty()) {
      reply.end = ClaimEnd::refused;
      reply.detail = redis_.no_claims;
    } else if (items.empty()) {
      reply.end = ClaimEnd::empty;
    } else {
      reply.whole = scan == store::Scan::whole || items.size() <= redis_.ends;
      if (reply.whole) {
        if (scan == store::Scan::whole) reply.calls = redis_.pass_calls;
        for (std::size_t left = items.size(); left > 0 && reply.claims.size() < wanted; --left) {
          const Item item = items.front();
          items.pop_front();
          items.push_back(item);
          take(item, reply);
        }
      } else {
        const auto half = static_cast<std::ptrdiff_t>(redis_.ends / 2);
        std::ptrdiff_t turned = 0;
        for (std::ptrdiff_t i = 0; i < half && reply.claims.size() < wanted; ++i)
          if (take(items[static_cast<std::size_t>(i)], reply)) turned = i + 1;
        for (auto item = items.end() - (located ? std::ssize(items) : half); item != items.end();
             ++item)
          if (reply.claims.size() < wanted) take(*item, reply);  // the item keeps its position
        located = false;
        std::rotate(items.begin(), items.begin() + turned, items.end());
      }
      if (reply.claims.size() < wanted) {
        reply.end = redis_.too_few;
        reply.wait_queue = redis_.wait_queue;
        reply.other_waiters = redis_.other_waiters;
      }
    }
    answer_.set(clock_.now() + redis_.claim_takes, [this, reply]() mutable {
      --redis_.claims_out;
      handler.on_claimed(std::move(reply));
    });
  }

  void claim_item(const Item& item, Source::ItemClaimed then) override {
    ItemClaim claim;
    const auto& items = redis_.lists[rule_->prefix];
    auto& lock = redis_.locks[rule_->prefix + item];
    if (std::find(items.begin(), items.end(), item) == items.end()) {
      claim.result = ItemClaim::Result::not_listed;
    } else if (lock.value == "quarantine") {
      claim.result = ItemClaim::Result::quarantined;
    } else if (!lock.value.empty() && lock.value != "rest") {
      claim.result = ItemClaim::Result::running;
      claim.detail = lock.value;
    } else {
      ClaimReply reply;
      lock = {};
      take(item, reply);
      claim.result = ItemClaim::Result::claimed;
      claim.claim = std::move(reply.claims.front());
    }
    item_answer_.set(clock_.now() + redis_.claim_takes,
                     [then = std::move(then), claim]() mutable { then(std::move(claim)); });
  }

  [[nodiscard]] bool hears() const override { return redis_.receives; }
  [[nodiscard]] bool can_hear() const override { return redis_.tracks; }
  void look(store::Look what) override {
    const bool changed = what == store::Look::end || what == store::Look::length;
    redis_.peeks_at_many += what == store::Look::many ? 1 : 0;
    ++redis_.peeks;
    redis_.peeks_after_change += changed ? 1 : 0;
    const auto& items = redis_.lists[rule_->prefix];
    store::LookReply reply{items.size() != length_, redis_.look_cost};
    for (const Item& item : items) {
      if (changed) break;
      const auto lock = redis_.locks.find(rule_->prefix + item);
      if (lock == redis_.locks.end() || lock->second.value.empty() ||
          (lock->second.until && *lock->second.until <= clock_.now()))
        reply.worth_it = true;
    }
    reply.located = located = reply.worth_it && redis_.locates;
    reply.next = redis_.next_peek;
    answer_.set(clock_.now(), [this, reply] { handler.on_looked(reply); });
  }
  double look_cost() const override { return redis_.look_cost; }

  void settle(store::Settlement&& settlement) override {
    auto& lock = redis_.locks[rule_->prefix + settlement.claim.item];
    if (std::holds_alternative<store::SetFree>(settlement.rest)) {
      lock = {};
    } else if (const auto* rest = std::get_if<store::RestFor>(&settlement.rest)) {
      lock = {"rest", clock_.now() + rest->time};
    } else {
      lock = {"quarantine", std::nullopt};
      quarantined_.push_back(settlement.claim.item);
    }
    auto& failures = redis_.failures[rule_->prefix + settlement.claim.item];
    if (settlement.failures == store::FailureCount::reset) failures = 0;
    if (settlement.failures == store::FailureCount::increment) ++failures;
    redis_.history.push_back(std::move(settlement));
    confirm();
  }

  void hand_back(const Claim& claim) override {
    redis_.locks[rule_->prefix + claim.item] = {};
    ++handed_back;
    confirm();
  }

  [[nodiscard]] bool may_start(const Claim&) const override { return !redis_.leases_end; }
  void leave_queue() override { ++left_line; }
  void announce(const RunEvent& event) override { events.push_back(event); }
  void listen(bool on) override { listens = on; }
  void may_stop_listening() override { listens = false; }
  [[nodiscard]] std::size_t unsettled() const override { return unsettled_; }

  bool listens = false;  ///< true while subscribed
  std::vector<RunEvent> events;
  std::vector<store::Scan> scans;
  std::vector<store::Manner> manners;
  std::size_t left_line = 0;
  std::size_t handed_back = 0;
  bool located = false;  ///< the next scan of the edges finds free items anywhere

 private:
  bool take(const Item& item, ClaimReply& reply) {
    auto& lock = redis_.locks[rule_->prefix + item];
    if (item == redis_.blocked && !item.empty()) return false;
    if (!lock.value.empty() && (!lock.until || *lock.until > clock_.now())) {
      if (lock.until && (!reply.next_free || *lock.until - clock_.now() < *reply.next_free))
        reply.next_free = *lock.until - clock_.now();
      return false;
    }
    const std::string run = "run" + std::to_string(++redis_.run);
    lock = {run, std::nullopt};
    reply.claims.push_back(
        Claim{run, item, {}, ++redis_.fence, redis_.failures[rule_->prefix + item] + 1});
    return true;
  }

  void confirm() {
    ++unsettled_;
    if (!redis_.settles) return;
    settled_.set(clock_.now(), [this] {
      unsettled_ = 0;
      handler.on_unwritten(redis_.no_records);
      for (const Item& item : std::exchange(quarantined_, {}))
        handler.on_quarantined(item, "failed");
      handler.on_all_settled();
    });
  }

  FakeRedis& redis_;
  FakeClock& clock_;
  ListConfigPtr rule_;
  std::size_t length_ = 0;  ///< at the last claim
  std::size_t unsettled_ = 0;
  std::vector<Item> quarantined_;
  Timer answer_;
  Timer item_answer_;
  Timer settled_;

 public:
  store::CircularListHandler& handler;
};

/// Executor whose runs end when the test requests it, or after `each_takes`.
class FakeExecutor : public Executor {
 public:
  FakeExecutor(FakeClock& clock, TimerQueue& timers, RunHandler& told,
               std::optional<Duration> each_takes)
      : handler(told), clock_(clock), timers_(timers), each_takes_(each_takes) {}

  ~FakeExecutor() override {
    // A real executor that is destroyed in its own callback would then use destroyed objects.
    if (in_callback_) std::abort();
  }

  void start(const Claim& claim, ListConfigPtr rule) override {
    started.push_back(claim);
    rules[claim.run] = std::move(rule);
    auto& timer = ends_[claim.run] = std::make_unique<Timer>(timers_);
    const RunId id = claim.run;
    if (busy) return;
    timer->set(clock_.now(), [this, id] {
      if (short_of && started_now() >= *short_of) return end_at(id, Duration{0}, lacks);
      running_.insert(id);
      handler.on_started(id, 42);
      if (each_takes_) end_at(id, *each_takes_, Exited{0});
    });
  }
  [[nodiscard]] bool unused() const override { return may_go && started.empty(); }
  void stop(const RunId& run) override {
    stopped.push_back(run);
    if (!running_.contains(run) && busy)
      return end_at(run, Duration{0}, Unanswered{"no process had accepted the item", true, true});
    end_at(run, Duration{0}, Signalled{15});
  }
  void kill(const RunId& run) override {
    killed.push_back(run);
    end_at(run, Duration{0}, Signalled{9});
  }

  void end_at(const RunId& run, Duration after, ProcessEnd how) {
    ends_[run] = std::make_unique<Timer>(timers_);
    ends_[run]->set(clock_.now() + after, [this, run, how] {
      RunEnd end;
      end.process = how;
      running_.erase(run);
      in_callback_ = true;
      handler.on_ended(run, std::move(end));
      in_callback_ = false;
    });
  }

  void retire() override { retired = true; }
  [[nodiscard]] std::size_t capacity() const override { return most; }

  RunHandler& handler;
  bool retired = false;
  bool busy = false;        ///< true: no process accepts a run
  bool may_go = false;      ///< true: may be destroyed while idle, unless it has had a run
  std::size_t most = 1000;  ///< maximum number of concurrent runs
  std::optional<std::size_t> short_of;  ///< number of runs that the host can start at once
  ProcessEnd lacks = NotStarted{"no room", false, true};
  std::vector<Claim> started;
  std::vector<RunId> stopped;
  std::vector<RunId> killed;
  std::map<RunId, ListConfigPtr> rules;

 private:
  [[nodiscard]] std::size_t started_now() const { return running_.size(); }

  FakeClock& clock_;
  TimerQueue& timers_;
  std::optional<Duration> each_takes_;
  bool in_callback_ = false;
  std::set<RunId> running_;
  std::map<RunId, std::unique_ptr<Timer>> ends_;
};

class FakeProber : public Prober {
 public:
  explicit FakeProber(FakeClock& clock, TimerQueue& timers) : clock_(clock), timers_(timers) {}
  void look_for(const ListConfig& rule, Duration, Answer answer) override {
    const std::string& path = rule.is_command() ? rule.command->front() : *rule.executor;
    probed.push_back(path);
    const ProbeResult result =
        replies.contains(path) ? replies.at(path) : ProbeResult(Caps{{"single"}, 1, ""});
    if (held) return waiting.push_back([answer, result] { answer(ProbeResult(result)); });
    timers_.set(clock_.now(), [answer, result] { answer(ProbeResult(result)); });
  }
  std::map<std::string, ProbeResult> replies;
  std::vector<std::string> probed;
  bool held = false;
  std::vector<std::function<void()>> waiting;

 private:
  FakeClock& clock_;
  TimerQueue& timers_;
};

/// Maintains a list while the object exists.
class FakeUpkeep : public ListMaintenance {
 public:
  struct Told {
    std::set<FakeUpkeep*> all;
    std::size_t made = 0;
  };
  FakeUpkeep(Told& told, ListConfigPtr first, ListMaintenanceHandler& by)
      : rule(std::move(first)), handler(by), handler_(told) {
    handler_.all.insert(this);
    ++handler_.made;
  }
  ~FakeUpkeep() override { handler_.all.erase(this); }
  void use(ListConfigPtr changed) override { rule = std::move(changed); }

  ListConfigPtr rule;
  ListMaintenanceHandler& handler;

 private:
  Told& handler_;
};

/// World of a Poller or a Supervisor, with a clock that the test moves.
class World : public ServedListObserver, public PollerFactory {
 public:
  FakeClock clock;
  TimerQueue timers;
  FakeRedis redis;
  FakeProber fake_prober{clock, timers};
  std::optional<Duration> runs_take;
  std::vector<FakeExecutor*> executors;
  std::vector<FakeList*> sources;
  std::vector<std::string> log;
  FakeUpkeep::Told maintenance;
  std::size_t ended = 0;
  std::size_t rests = 0;  ///< number of times that a poller became idle
  bool executors_busy = false;
  bool keep_executors = true;  ///< true: unused executors stay accessible

  void run_for(Duration time) {
    const Instant end = clock.now() + time;
    while (true) {
      while (timers.run_due(clock.now()) > 0) {
      }
      const auto next = timers.next();
      if (!next || *next > end) break;
      clock.set(std::max(*next, clock.now()));
    }
    clock.set(end);
  }
  void settle_down() { run_for(Duration{0}); }

  std::unique_ptr<Source> make_source(const ListConfigPtr&, IdlePolls& shared,
                                      SourceHandler& handler) override {
    return std::make_unique<source::CircularSource>(
        clock, shared, handler, [this](store::CircularListHandler& told) {
          auto made = std::make_unique<FakeList>(redis, clock, timers, told);
          sources.push_back(made.get());
          return made;
        });
  }
  std::shared_ptr<Executor> make_executor(const ListConfigPtr&, const Caps&,
                                          RunHandler& handler) override {
    auto made = std::make_shared<FakeExecutor>(clock, timers, handler, runs_take);
    made->busy = executors_busy;
    executors.push_back(made.get());
    if (keep_executors) kept_.push_back(made);
    return made;
  }
  std::unique_ptr<ListMaintenance> make_maintenance(const ListConfigPtr& rule, IdlePolls&,
                                                    ListMaintenanceHandler& handler) override {
    if (rule->kind() == SourceKind::circular) return nullptr;
    return std::make_unique<FakeUpkeep>(maintenance, rule, handler);
  }
  std::string why_not(const ListConfig& rule, const Caps& caps) override {
    for (const auto& cap : *rule.requires_caps)
      if (!caps.has(cap)) return "lacks \"" + cap + '"';
    return {};
  }
  Prober& prober() override { return fake_prober; }

  void run_started(const Poller&, const ActiveRun& run) override {
    log.push_back("start " + run.claim.item);
  }
  void run_message(const Poller&, const ActiveRun&, const Message&) override {}
  void run_logged(const Poller&, const ActiveRun&, std::string_view, bool) override {}
  void run_ended(const Poller&, const EndedRun& run) override {
    ++ended;
    log.push_back(std::string(outcome_name(run.outcome)) + " " + run.claim.item);
  }
  void item_quarantined(const Poller&, const DisplayItem& item, const std::string&) override {
    log.push_back("parked " + item.beginning);
  }
  void process_changed(const Poller&, int pid, const ProcessEvent&) override {
    log.push_back("process " + std::to_string(pid));
  }
  void lease_changed(const Poller&, const ActiveRun& run, bool lost) override {
    log.push_back((lost ? "lease lost " : "lease back ") + run.claim.item);
  }
  void state_changed(Poller& poller) override {
    if (poller.state() == PollerState::idle) ++rests;
  }
  void shortage_changed(const Poller& poller) override {
    log.push_back(poller.shortage().any() ? "short: " + poller.shortage().reason() : "not short");
  }
  void list_refused(const ListConfig& rule, const Ineligibility& refusal) override {
    log.push_back("refused " + rule.prefix + ": " + refusal.reason);
  }
  void maintenance_changed(const ListConfig& rule, const std::string& why) override {
    log.push_back("upkeep " + rule.prefix + ": " + why);
  }
  void list_served(const ListConfig& rule, const Caps&) override {
    log.push_back("served " + rule.prefix);
  }

 private:
  std::vector<std::shared_ptr<Executor>> kept_;
};

inline ListConfig rule_for(const std::string& prefix, unsigned concurrency = 1) {
  ListConfig rule;
  rule.prefix = prefix;
  rule.executor = "/bin/" + prefix;
  rule.concurrency = concurrency;
  return rule;
}

inline ListConfigPtr share(ListConfig rule) {
  return std::make_shared<const ListConfig>(std::move(rule));
}

inline std::size_t count(const std::vector<std::string>& log, const std::string& line) {
  return static_cast<std::size_t>(std::count(log.begin(), log.end(), line));
}

}  // namespace w8y::test

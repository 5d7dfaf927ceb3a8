// A kind of work whose items are in memory, added by the steps of src/source/README.md: a store, a
// source with its disposition, a line of the factory. The tests show that Poller, ActiveRuns,
// ServedList and Supervisor need no change for a new kind. The config key `source` has no value for
// this kind: the factory selects it by the name of the list.
#include <functional>
#include <map>
#include <variant>

#include "poller_bench.hpp"
#include "source/claiming_source.hpp"
#include "supervisor_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace memory_kind_test {
namespace {

// ---- Store

struct Finish {};
struct Delay {
  Duration time;
};
struct Return {};
using MemoryDisposition = std::variant<Finish, Delay, Return>;

class MemoryHandler : public virtual store::WorkQueueHandler {
 public:
  virtual void on_added() = 0;
};

/// Items of a list. The queues of all hosts share them, as hosts share a Redis.
struct MemoryStore {
  std::deque<Item> free;
  std::map<Item, Instant> delayed;  ///< end of the delay
  std::size_t running = 0;
  std::map<Item, unsigned> failures;
  std::vector<Item> finished;
  bool reachable = true;
  std::size_t claims = 0;
  std::map<MemoryHandler*, bool> queues;  ///< whether the queue requests notifications

  void add(const Item& item) {
    free.push_back(item);
    for (const auto& [handler, listens] : std::map(queues))
      if (listens) handler->on_added();
  }
  void come_back() {
    reachable = true;
    for (const auto& [handler, listens] : std::map(queues)) handler->on_back();
  }
};

class MemoryQueue : public store::WorkQueue {
 public:
  MemoryQueue(std::shared_ptr<MemoryStore> store, World& world, MemoryHandler& handler)
      : store_(std::move(store)),
        world_(world),
        handler_(handler),
        reply_(world.timers),
        write_(world.timers) {
    listen(false);
  }
  ~MemoryQueue() override { store_->queues.erase(&handler_); }

  void use(ListConfigPtr) override {}
  void claim(std::size_t wanted) {
    ++store_->claims;
    ClaimReply reply;
    for (auto item = store_->delayed.begin(); item != store_->delayed.end();) {
      if (item->second <= world_.clock.now()) {
        store_->free.push_back(item->first);
        item = store_->delayed.erase(item);
      } else {
        const Duration left = item++->second - world_.clock.now();
        reply.next_free = std::min(reply.next_free.value_or(left), left);
      }
    }
    for (; store_->reachable && !store_->free.empty() && wanted > 0; --wanted) {
      const Item item = std::exchange(store_->free.front(), {});
      store_->free.pop_front();
      reply.claims.push_back({"run" + std::to_string(++world_.redis.run),
                              item,
                              {},
                              std::nullopt,
                              store_->failures[item] + 1});
    }
    store_->running += reply.claims.size();
    const bool empty = store_->delayed.empty() && store_->running == 0;
    if (wanted > 0) reply.end = empty ? ClaimEnd::empty : ClaimEnd::nothing_free;
    reply_.set(world_.clock.now() + 1ms, [this, reply]() mutable {
      if (!store_->reachable) {  // the reply is lost
        for (const Claim& claim : reply.claims) hand_back(claim);
        reply = {};
        reply.end = ClaimEnd::unavailable;
      }
      handler_.on_claimed(std::move(reply));
    });
  }
  void listen(bool on) override { store_->queues[&handler_] = on; }
  [[nodiscard]] bool hears() const override { return store_->queues.at(&handler_); }
  void settle(const Claim& claim, MemoryDisposition what) {
    pending_.push_back([this, item = claim.item, what] {
      --store_->running;
      if (std::holds_alternative<Finish>(what)) return store_->finished.push_back(item);
      if (std::holds_alternative<Return>(what)) return store_->add(item);
      ++store_->failures[item];
      store_->delayed[item] = world_.clock.now() + std::get<Delay>(what).time;
    });
    write();
  }
  void hand_back(const Claim& claim) override {
    pending_.push_back([this, item = claim.item] {
      --store_->running;
      store_->add(item);
    });
    write();
  }
  [[nodiscard]] bool may_start(const Claim&) const override { return store_->reachable; }
  void announce(const RunEvent&) override {}
  [[nodiscard]] std::size_t unsettled() const override { return pending_.size(); }

 private:
  /// Writes all settlements and hand-backs, and retries while the store is unavailable.
  void write() {
    write_.set(world_.clock.now() + 1ms, [this] {
      if (!store_->reachable) return write();
      for (const auto& change : std::exchange(pending_, {})) change();
      handler_.on_all_settled();
    });
  }

  std::shared_ptr<MemoryStore> store_;
  World& world_;
  MemoryHandler& handler_;
  std::vector<std::function<void()>> pending_;
  Timer reply_;
  Timer write_;
};

// ---- Source

MemoryDisposition dispose_of_memory_item(const EndedRun& run) {
  if (counts_as(run) == Counts::success) return Finish{};
  if (counts_as(run) == Counts::neither) return Return{};
  return Delay{backoff_after(run.rule->backoff, run.claim.attempt)};
}

class MemorySource final : public source::ClaimingSource, private MemoryHandler {
 public:
  MemorySource(World& world, IdlePolls& idle, SourceHandler& handler,
               std::shared_ptr<MemoryStore> store)
      : ClaimingSource(world.clock, idle, handler),
        queue_(std::make_unique<MemoryQueue>(std::move(store), world,
                                             static_cast<MemoryHandler&>(*this))) {}
  void settle(EndedRun&& run) override { queue_->settle(run.claim, dispose_of_memory_item(run)); }

 private:
  void on_added() override { woken(); }
  [[nodiscard]] store::WorkQueue& queue() const override { return *queue_; }
  void send_claim(std::size_t wanted) override { queue_->claim(wanted); }

  std::unique_ptr<MemoryQueue> queue_;
};

// ---- Factory

/// Host whose list "memory" has this kind. `Host` makes the sources of all other lists.
template <class Host>
struct MemoryHost : Host {
  using Host::Host;
  std::unique_ptr<Source> make_source(const ListConfigPtr& rule, IdlePolls& polls,
                                      SourceHandler& handler) override {
    if (rule && rule->prefix != "memory") return Host::make_source(rule, polls, handler);
    return std::make_unique<MemorySource>(*this, polls, handler, store);
  }
  void end(const RunId& run, ProcessEnd how) {
    this->executors.back()->end_at(run, 0s, std::move(how));
    this->run_for(5ms);
  }
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
};

struct MemoryBench : MemoryHost<Bench> {
  explicit MemoryBench(ListConfig rule, const std::vector<Item>& items = {})
      : MemoryHost(std::move(rule)) {
    for (const Item& item : items) store->add(item);
    begin();
    run_for(5ms);
  }
};

using Log = std::vector<std::string>;

}  // namespace

TEST_CASE("a new kind of work runs its items, at most `concurrency` of them at once") {
  MemoryBench bench(rule_for("memory", 2), {"a", "b", "c"});
  CHECK(bench.log == Log{"start a", "start b"});
  bench.end("run1", Exited{0});
  CHECK(bench.log == Log{"start a", "start b", "succeeded a", "start c"});
  bench.end("run2", Exited{0});
  bench.end("run3", Exited{0});
  CHECK(bench.store->finished == std::vector<Item>{"a", "b", "c"});
  CHECK(bench.poller->counters().succeeded == 3);
  CHECK(bench.poller->state() == PollerState::idle);
}

TEST_CASE("a failed item of a new kind of work runs again after its backoff, as the next attempt") {
  MemoryBench bench(rule_for("memory"), {"a"});
  bench.end("run1", Exited{1});
  bench.run_for(900ms);
  CHECK(bench.log == Log{"start a", "crashed a"});
  bench.run_for(200ms);
  CHECK(bench.log == Log{"start a", "crashed a", "start a"});
  CHECK(bench.executor().started.back().attempt == 2);
  CHECK(bench.store->finished.empty());
}

TEST_CASE("a notification ends the idle state of a list of a new kind of work") {
  MemoryBench bench(rule_for("memory"));
  bench.run_for(1min);
  CHECK(bench.poller->state() == PollerState::idle);
  CHECK(bench.store->claims <= 60 / 2 + 2);  // polls, which are rare with notifications
  bench.store->add("a");
  bench.run_for(5ms);
  CHECK(bench.log == Log{"start a"});
}

TEST_CASE("a drain settles all runs of a new kind of work and claims nothing more") {
  MemoryBench bench(rule_for("memory", 2), {"a", "b", "c"});
  bench.poller->drain();
  bench.end("run1", Exited{0});
  CHECK(bench.poller->state() == PollerState::draining);
  bench.poller->stop_runs(StopReason::shutdown);
  bench.run_for(0ms);
  CHECK(bench.poller->unsettled() == 1);
  CHECK_FALSE(bench.poller->drained());
  bench.run_for(5ms);
  CHECK(bench.poller->drained());
  CHECK(bench.store->finished == std::vector<Item>{"a"});
  CHECK(bench.store->free == std::deque<Item>{"c", "b"});
}

TEST_CASE("items and settlements of a new kind of work survive an outage of the store") {
  ListConfig rule = rule_for("memory");
  rule.on_lease_loss = OnLeaseLoss::terminate;
  MemoryBench bench(rule);
  bench.store->add("a");
  bench.store->reachable = false;  // the claim is in flight
  bench.run_for(1s);
  CHECK(bench.poller->last_claim() == ClaimEnd::unavailable);
  CHECK(bench.poller->unsettled() == 1);
  CHECK(bench.log.empty());
  bench.store->come_back();
  bench.run_for(1s);
  CHECK(bench.log == Log{"start a"});

  bench.store->reachable = false;
  bench.store->queues.begin()->first->on_lease_expiring(bench.executor().started.back().run);
  bench.run_for(1s);
  CHECK(bench.log == Log{"start a", "lost a"});
  CHECK(bench.poller->unsettled() == 1);
  bench.store->come_back();
  bench.run_for(1s);
  CHECK(bench.log == Log{"start a", "lost a", "start a"});
}

TEST_CASE("a supervisor serves a new kind of work beside others, through a reload and a drain") {
  MemoryHost<SupervisorBench> house;
  house.redis.lists["work"] = {"x"};
  house.store->add("a");
  house.apply({rule_for("work"), rule_for("memory")});
  house.run_for(5ms);
  CHECK(house.supervisor.running() == 2);
  house.store->add("b");
  house.apply({rule_for("memory", 2)}, true);
  house.run_for(5ms);
  CHECK(house.list("memory").retired().size() == 1);
  CHECK(count(house.log, "start b") == 1);
  house.supervisor.drain([] {});
  house.run_for(1min);
  CHECK(house.supervisor.state() == SupervisorState::drained);
  CHECK(house.store->free.size() == 2);
}

}  // namespace memory_kind_test

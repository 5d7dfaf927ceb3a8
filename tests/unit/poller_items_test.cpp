#include <doctest/doctest.h>

#include "poller_bench.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace poller_items_test {

/// A request to run one item, and its reply. No value while there is none.
struct Order {
  explicit Order(Bench& bench, const Item& item) {
    bench.poller->run_item(item, [this](const RunItemResult& run) { reply = run; });
  }
  std::optional<RunItemResult> reply;
};

using Result = RunItemResult::Result;

TEST_CASE("run item: a delayed item starts at once") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"a"};
  bench.redis.locks["worka"] = {"rest", bench.clock.now() + 1h};
  bench.begin();
  CHECK(bench.poller->state() == PollerState::idle);
  Order order(bench, "a");
  CHECK_FALSE(order.reply.has_value());
  bench.settle_down();
  REQUIRE(order.reply.has_value());
  CHECK(order.reply->result == Result::started);
  CHECK(bench.poller->runs().find(order.reply->run) != nullptr);
  CHECK(bench.places.used() == 1);
  bench.end(order.reply->run, Exited{0});
  CHECK(bench.poller->counters().succeeded == 1);
}

TEST_CASE("run item: an item that cannot run is refused with a reason, and uses no slot") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"parked", "busy"};
  bench.redis.locks["workparked"] = {"quarantine", std::nullopt};
  bench.redis.locks["workbusy"] = {"run:beta:7:01K", std::nullopt};
  bench.begin();
  const auto why = [&](const char* item) {
    Order order(bench, item);
    bench.settle_down();
    REQUIRE(order.reply.has_value());
    CHECK(order.reply->result == Result::refused);
    return order.reply->why;
  };
  CHECK(why("parked") == "the item is quarantined; release it first");
  CHECK(why("busy") == "the item runs already: run:beta:7:01K");
  CHECK(why("gone") == "the item is not in the list");
  CHECK(bench.places.used() == 0);
  CHECK(bench.executor().started.empty());
}

TEST_CASE("run item: a reply reports that this host has no free slot") {
  Bench bench(rule_for("work", 2), 3);
  bench.redis.lists["work"] = {"a", "b", "c"};
  bench.begin();
  REQUIRE(bench.poller->runs().size() == 2);
  Order full(bench, "c");
  REQUIRE(full.reply.has_value());
  CHECK(full.reply->result == Result::not_on_this_host);
  CHECK(full.reply->why == "no free slot: 2 of 2 runs of the list (concurrency)");

  ListConfig rule = rule_for("other", 2);
  Bench crowded(rule, 1);
  struct Holder final : SlotPool::User {
    explicit Holder(SlotPool& places) : SlotPool::User(places, 1) { acquire(1); }
    void on_slot_free() override {}
  } holder(crowded.places);
  crowded.redis.lists["other"] = {"a"};
  crowded.begin();
  Order none(crowded, "a");
  REQUIRE(none.reply.has_value());
  CHECK(none.reply->why == "no free slot: host_concurrency is reached");

  Bench quiet(rule_for("work"));
  quiet.redis.lists["work"] = {"a"};
  quiet.poller->set_quiet(true);
  quiet.begin();
  Order held(quiet, "a");
  REQUIRE(held.reply.has_value());
  CHECK(held.reply->why == "host is quiet: starting no new runs");
}

TEST_CASE(
    "run item: it waits for a claim in flight that has all slots, and uses a slot that remains") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"a", "b"};
  bench.redis.locks["workb"] = {"rest", bench.clock.now() + 1h};
  auto source = bench.make_source(nullptr, bench.idle, bench.poller->source_handler());
  bench.poller->begin(std::move(source),
                      bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  REQUIRE(bench.poller->state() == PollerState::claiming);
  Order order(bench, "b");
  CHECK_FALSE(order.reply.has_value());
  bench.settle_down();
  REQUIRE(order.reply.has_value());
  CHECK(order.reply->result == Result::started);
  CHECK(bench.poller->runs().size() == 2);  // never more than the limit
}

TEST_CASE("run item: an item claimed after the host became quiet is handed back") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"a"};
  bench.redis.locks["worka"] = {"rest", bench.clock.now() + 1h};
  bench.begin();
  Order order(bench, "a");
  bench.poller->set_quiet(true);
  bench.settle_down();
  REQUIRE(order.reply.has_value());
  CHECK(order.reply->result == Result::not_on_this_host);
  CHECK(bench.source().handed_back == 1);
  CHECK(bench.places.used() == 0);
}

TEST_CASE("run item: an item claimed after a reload removed its slot is handed back") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"a", "b"};
  bench.redis.locks["workb"] = {"rest", bench.clock.now() + 1h};
  bench.begin();
  REQUIRE(bench.poller->runs().size() == 1);
  Order order(bench, "b");
  bench.poller->use(share(rule_for("work", 1)),
                    bench.make_executor(nullptr, {}, bench.poller->run_handler()));
  bench.settle_down();
  REQUIRE(order.reply.has_value());
  CHECK(order.reply->result == Result::not_on_this_host);
  CHECK(order.reply->why == "no free slot: 1 of 1 runs of the list (concurrency)");
  CHECK(bench.source().handed_back == 1);
  CHECK(bench.poller->runs().size() == 1);
  CHECK(bench.places.used() == 1);
}

TEST_CASE("run item: a draining poller waits for the reply") {
  Bench bench(rule_for("work", 2));
  bench.redis.lists["work"] = {"a"};
  bench.redis.locks["worka"] = {"rest", bench.clock.now() + 1h};
  bench.begin();
  Order order(bench, "a");
  bench.poller->drain();
  CHECK_FALSE(bench.poller->drained());
  bench.settle_down();
  CHECK(order.reply.has_value());
  CHECK(bench.poller->drained());
}

}  // namespace poller_items_test

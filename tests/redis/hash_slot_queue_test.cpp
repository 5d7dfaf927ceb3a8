// Order of calls to one hash slot, without a server or connection.
#include "redis/hash_slot_queue.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "redis/reader.hpp"

using namespace w8y;
using namespace w8y::redis;
using namespace std::chrono_literals;

namespace cluster_lane_test {
namespace {

struct StillClock final : Clock {
  Instant at{1h};
  [[nodiscard]] Instant now() const override { return at; }
  [[nodiscard]] WallTime wall() const override { return WallTime(0); }
};

HashSlotQueue::Call call(const std::string& word) {
  auto made = std::make_shared<ClusterCall>();
  made->parts.push_back({{word}, {}});
  made->timeout = Instant{2h};
  return made;
}

/// Sends calls to one of two nodes, and records them.
struct Lane {
  StillClock clock;
  TimerQueue timers;
  // Nodes are only compared by address.
  const ClusterNode& one = *reinterpret_cast<const ClusterNode*>(&clock);
  const ClusterNode& other = *reinterpret_cast<const ClusterNode*>(&timers);
  const ClusterNode* node = &one;
  std::vector<std::string> sent;
  std::vector<HashSlotQueue::Call> flying;
  HashSlotQueue lane{clock, timers, [this] { pump(); }};

  void pump() {
    while (lane.next() != nullptr && lane.may_go_to(*node)) {
      flying.push_back(lane.begin(*node));
      sent.emplace_back(flying.back()->parts.front().words.front());
    }
  }
  void add(const std::string& word) {
    lane.add(call(word));
    pump();
  }
  void answer(std::size_t index, Resend again) { lane.on_reply(flying.at(index), again); }
};

using Words = std::vector<std::string>;

Resend again_after(ClusterCall& of, const std::string& error, Instant now = Instant{1h}) {
  Reader reader;
  reader.feed("-" + error + "\r\n");
  const redisReply* reply = reader.next();
  return send_again(of, {"here", 1}, Answer{Failure::none, Reply(reply), {}}, now);
}

}  // namespace

TEST_CASE("hash slot queue: calls are sent in order without waiting for replies, then it is idle") {
  Lane l;
  CHECK(l.lane.idle());
  l.add("a");
  l.add("b");
  CHECK(l.sent == Words{"a", "b"});
  l.answer(0, Resend::never);
  CHECK_FALSE(l.lane.idle());
  l.answer(1, Resend::never);
  CHECK(l.lane.idle());
}

TEST_CASE("hash slot queue: resent calls come before later calls") {
  Lane l;
  l.add("a");
  l.add("b");
  l.answer(0, Resend::immediately);
  l.add("c");
  CHECK(l.sent == Words{"a", "b"});  // b is still in flight
  l.answer(1, Resend::immediately);
  CHECK(l.sent == Words{"a", "b", "a", "b", "c"});
}

TEST_CASE(
    "hash slot queue: another node gets no call before all replies of the first have arrived") {
  Lane l;
  l.add("a");
  l.node = &l.other;
  l.add("b");
  CHECK(l.sent == Words{"a"});
  l.answer(0, Resend::never);
  CHECK(l.sent == Words{"a", "b"});
}

TEST_CASE("hash slot queue: a delayed resend is preceded by a pause") {
  Lane l;
  l.add("a");
  l.answer(0, Resend::delayed);
  l.add("b");
  CHECK(l.sent == Words{"a"});
  CHECK_FALSE(l.lane.idle());
  REQUIRE(l.timers.next());
  CHECK(*l.timers.next() > l.clock.at);
  l.clock.at = *l.timers.next();
  l.timers.run_due(l.clock.at);
  CHECK(l.sent == Words{"a", "a", "b"});
}

TEST_CASE("hash slot queue: a call that cannot be sent is removed") {
  Lane l;
  l.lane.add(call("a"));
  REQUIRE(l.lane.next() != nullptr);
  CHECK(l.lane.drop()->parts.front().words == Words{"a"});
  CHECK(l.lane.idle());
}

TEST_CASE("resend: after MOVED and ASK at most five times, delayed from the third time on") {
  ClusterCall of = *call("GET");
  CHECK(again_after(of, "MOVED 1 there:2") == Resend::immediately);
  CHECK_FALSE(of.ask_target);
  CHECK(again_after(of, "ASK 1 there:2") == Resend::immediately);
  REQUIRE(of.ask_target);
  CHECK(of.ask_target->host == "there");
  for (int i = 0; i < 3; ++i) CHECK(again_after(of, "MOVED 1 there:2") == Resend::delayed);
  CHECK_FALSE(of.ask_target);  // valid once
  CHECK(again_after(of, "MOVED 1 there:2") == Resend::never);
}

TEST_CASE("resend: after TRYAGAIN until the timeout, and never after other errors") {
  ClusterCall of = *call("MGET");
  for (int i = 0; i < 20; ++i) CHECK(again_after(of, "TRYAGAIN keys") == Resend::delayed);
  CHECK(again_after(of, "TRYAGAIN keys", Instant{3h}) == Resend::never);
  CHECK(again_after(of, "WRONGTYPE no list") == Resend::never);
  CHECK(send_again(of, {"here", 1}, Answer{Failure::lost, Reply(nullptr), "gone"}, {}) ==
        Resend::never);
}

TEST_CASE("resend: never for a call that depends on one connection or has no key") {
  ClusterCall transaction = *call("MULTI");
  transaction.parts.push_back({{"EXEC"}, {}});
  CHECK(again_after(transaction, "MOVED 1 there:2") == Resend::never);
  ClusterCall anywhere = *call("PING");
  anywhere.anywhere = true;
  CHECK(again_after(anywhere, "MOVED 1 there:2") == Resend::never);
}

}  // namespace cluster_lane_test

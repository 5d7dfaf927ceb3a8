// Renewals of locks with long names, without a server: their order, and the bytes in flight.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "loop/loop.hpp"
#include "redis/server_client.hpp"
#include "store/circular/keys.hpp"
#include "store/leases.hpp"
#include "store/server_clock.hpp"

using namespace w8y;
using namespace w8y::store;
using namespace std::chrono_literals;

namespace renew_large_test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

class HandClock : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] WallTime wall() const override { return WallTime(0); }
  void advance(Duration time) { now_ += time; }

 private:
  Instant now_{1000h};
};

/// Lease store that replies when a test calls answer_one().
class SlowStore : public LeaseStore {
 public:
  struct Call {
    std::vector<std::string> keys;
    Answer answer;
  };
  void renew(const Batch& leases, Answer answer) override {
    Call& kept = calls.emplace_back();
    for (const auto& lease : leases) {
      kept.keys.push_back(lease->terms.key);
      open += lease->terms.key.size();
    }
    kept.answer = std::move(answer);
    max_open = std::max(max_open, open);
  }
  void let_go(const LeaseTerms&) override {}
  void answer_one() {
    const Call call = std::move(calls.front());
    calls.pop_front();
    for (const std::string& key : call.keys) open -= key.size();
    const std::vector<Renewed> states(call.keys.size(), Renewed::renewed);
    renewed += call.keys.size();
    call.answer(&states);
  }

  std::deque<Call> calls;
  std::size_t open = 0;
  std::size_t max_open = 0;
  std::size_t renewed = 0;
};

/// Leases without a server.
struct Place {
  HandClock clock;
  TimerQueue timers;
  std::shared_ptr<SlowStore> store = std::make_shared<SlowStore>();
  Leases leases{clock, timers};
};

struct Losses : LeaseHandler {
  void lease_lost(RunId) override { ++lost; }
  void lease_back(RunId) override {}
  void lease_expiring(RunId) override {}
  int lost = 0;
};

}  // namespace

TEST_CASE("renewals of long items wait for each other, and other renewals do not wait for them") {
  Place place;
  HandClock& clock = place.clock;
  TimerQueue& timers = place.timers;
  SlowStore& store = *place.store;
  Losses losses;
  const auto keys = std::make_shared<const CircularKeys>("work:");
  std::vector<Leases::Lease> held;
  const auto hold = [&](int number, std::size_t bytes) {
    LeaseTerms terms;
    terms.run = "run" + std::to_string(number);
    terms.key = keys->lock(std::to_string(number) + std::string(bytes, 'x'));
    terms.value = "run:here:1:" + terms.run;
    terms.store = place.store;
    terms.expiry = 5s;
    terms.claimed = clock.now();
    held.push_back(place.leases.hold(terms, losses));
  };
  for (int i = 0; i < 140; ++i) hold(i, mebibyte);
  hold(140, 1);

  clock.advance(1700ms);
  timers.run_due(clock.now());
  REQUIRE(!store.calls.empty());
  CHECK(store.calls.front().keys == std::vector<std::string>{keys->lock("140x")});
  CHECK(store.calls.size() > 1);
  // Each reply makes room for the next renewals. Each lease is renewed once.
  while (!store.calls.empty()) {
    store.answer_one();
    clock.advance(1ms);
    timers.run_due(clock.now());
  }
  CHECK(store.renewed == 141);
  CHECK(store.max_open <= 5 * mebibyte);
  CHECK(losses.lost == 0);
}

TEST_CASE("an item of 16 MiB is renewed by itself") {
  Place place;
  HandClock& clock = place.clock;
  TimerQueue& timers = place.timers;
  SlowStore& store = *place.store;
  Losses losses;
  const auto keys = std::make_shared<const CircularKeys>("work:");
  std::vector<Leases::Lease> held;
  for (int i = 0; i < 3; ++i) {
    LeaseTerms terms;
    terms.run = "run" + std::to_string(i);
    terms.key = keys->lock(std::string(max_item, static_cast<char>('a' + i)));
    terms.store = place.store;
    terms.expiry = 5s;
    terms.claimed = clock.now();
    held.push_back(place.leases.hold(terms, losses));
  }
  clock.advance(1700ms);
  timers.run_due(clock.now());
  for (int i = 0; i < 3; ++i) {
    REQUIRE(store.calls.size() == 1);
    CHECK(store.calls.front().keys.size() == 1);
    store.answer_one();
    timers.run_due(clock.now());
  }
  CHECK(store.renewed == 3);
}

TEST_CASE("a host that renews leases sends no TIME to Redis") {
  HandClock clock;
  TimerQueue timers;
  loop::Loop loop;
  redis::ServerClient client{loop, {}};
  ServerClock server_clock{client, timers, clock, false};
  server_clock.note(WallTime{1'000'000}, clock.now(), clock.now());
  CHECK(timers.next() == clock.now() + ServerClock::interval);
  clock.advance(1700ms);
  server_clock.note(WallTime{1'001'700}, clock.now(), clock.now());
  CHECK(timers.next() == clock.now() + ServerClock::interval);
}

}  // namespace renew_large_test

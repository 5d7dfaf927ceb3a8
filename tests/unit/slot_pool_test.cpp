// Slot limit that all lists of a host share.
#include "core/slot_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fakes.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace places_test {
namespace {

/// List that uses up to `concurrency` slots, for runs of a fixed duration.
class List : SlotPool::User {
 public:
  List(World& world, SlotPool& places, unsigned weight, std::size_t concurrency, Duration takes)
      : SlotPool::User(places, weight), world_(world), most_(concurrency), takes_(takes) {}

  void begin() {
    going_ = true;
    fill();
  }
  void pause() {
    going_ = false;
    leave_queue();
  }
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(had_).count(); }
  using User::held;

 private:
  void on_slot_free() override { fill(); }

  void fill() {
    if (!going_ || held() >= most_) return leave_queue();
    for (std::size_t places = acquire(most_ - held()); places > 0; --places) {
      runs_.push_back(std::make_unique<Timer>(world_.timers));
      runs_.back()->set(world_.clock.now() + takes_, [this] {
        had_ += takes_;
        release(1);
        fill();
      });
    }
  }

  World& world_;
  std::size_t most_;
  Duration takes_;
  Duration had_{0};
  bool going_ = false;
  std::vector<std::unique_ptr<Timer>> runs_;
};

struct Lists : World {
  explicit Lists(std::size_t most) : places(clock, most) {}
  List& add(unsigned weight, std::size_t concurrency, Duration takes) {
    lists.push_back(std::make_unique<List>(*this, places, weight, concurrency, takes));
    return *lists.back();
  }
  /// Returns the slot time of each list, in percent of the total.
  [[nodiscard]] std::vector<int> shares() const {
    double all = 0;
    for (const auto& list : lists) all += list->seconds();
    std::vector<int> parts;
    for (const auto& list : lists) parts.push_back(static_cast<int>(100 * list->seconds() / all));
    return parts;
  }
  void begin() {
    for (auto& list : lists) list->begin();
  }

  SlotPool places;
  std::vector<std::unique_ptr<List>> lists;
};

void check_near(const std::vector<int>& shares, const std::vector<int>& wanted) {
  REQUIRE(shares.size() == wanted.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CAPTURE(i);
    CHECK(shares[i] >= wanted[i] - 2);
    CHECK(shares[i] <= wanted[i] + 2);
  }
}

}  // namespace

TEST_CASE("a free slot goes to a list that has had none yet") {
  // Fails with an endless loop if a list that is offered a slot queues again behind the others.
  Lists world(4);
  List& first = world.add(1, 4, 10ms);
  for (int i = 0; i < 3; ++i) world.add(1, 4, 10ms);
  first.begin();
  CHECK(first.held() == 4);
  world.begin();
  world.run_for(10s);
  check_near(world.shares(), {25, 25, 25, 25});
}

TEST_CASE("slot time is shared by weight, even with fewer slots than lists") {
  Lists world(4);
  for (unsigned weight = 1; weight <= 4; ++weight) world.add(weight, 4, 7ms);
  world.begin();
  world.run_for(20s);
  check_near(world.shares(), {10, 20, 30, 40});
  CHECK(world.places.used() == 4);
}

TEST_CASE("slot time of a single slot is shared by weight") {
  Lists world(1);
  world.add(1, 1, 5ms);
  world.add(3, 1, 5ms);
  world.begin();
  world.run_for(20s);
  check_near(world.shares(), {25, 75});
}

TEST_CASE("lists with long runs get no more slot time than lists with short runs") {
  Lists world(2);
  world.add(1, 2, 1s);
  world.add(1, 2, 10ms);
  world.begin();
  world.run_for(200s);
  check_near(world.shares(), {50, 50});
}

TEST_CASE("a list that was idle does not catch up on slot time") {
  Lists world(4);
  List& steady = world.add(1, 4, 10ms);
  List& late = world.add(1, 4, 10ms);
  steady.begin();
  world.run_for(100s);
  const double before = steady.seconds();
  late.begin();
  world.run_for(10s);
  CHECK(steady.seconds() - before > 19);
  CHECK(late.seconds() > 19);
  late.pause();
  world.run_for(10s);
  late.begin();
  const double then = steady.seconds();
  world.run_for(10s);
  CHECK(steady.seconds() - then > 19);
}

TEST_CASE("slot time used while slots were free does not count") {
  Lists world(3);
  List& slow = world.add(1, 2, 100s);
  world.add(1, 1, 10ms);
  world.begin();
  world.run_for(99s);
  world.add(1, 3, 10ms).begin();  // from here on slots are scarce
  world.run_for(6s);
  CHECK(slow.held() >= 1);
}

TEST_CASE("a limit that is set later counts slot time from then on") {
  Lists world(0);
  List& early = world.add(1, 4, 10ms);
  early.begin();
  world.run_for(100s);
  world.places.set_limit(2);
  List& late = world.add(1, 4, 10ms);
  late.begin();
  const double before = early.seconds();
  world.run_for(10s);
  CHECK(early.seconds() - before > 9);
  CHECK(late.seconds() > 9);
}

TEST_CASE("slot time used while no other list waited does not count") {
  Lists world(3);
  List& slow = world.add(1, 6, 100s);  // needs more slots than there are
  slow.begin();
  world.run_for(99s);
  world.add(1, 3, 10ms).begin();
  world.run_for(10s);
  CHECK(slow.held() >= 1);
}

TEST_CASE("the cost of a slot does not depend on the number of waiting lists") {
  // A search of all waiting lists for each slot would take minutes here.
  Lists world(8);
  for (int i = 0; i < 50'000; ++i) world.add(1, 1, 100us);
  world.begin();
  world.run_for(625ms);
  CHECK(std::all_of(world.lists.begin(), world.lists.end(),
                    [](const auto& list) { return list->seconds() > 0; }));
}

}  // namespace places_test

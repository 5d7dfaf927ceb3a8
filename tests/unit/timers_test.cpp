#include "core/timers.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace w8y;
using namespace std::chrono_literals;

namespace timers_test {
namespace {
Instant at(Duration since) {
  return Instant(since);
}
}  // namespace

TEST_CASE("timers run in the order of their deadlines, and equal ones in the order of creation") {
  TimerQueue queue;
  std::vector<int> ran;
  queue.set(at(20ms), [&] { ran.push_back(2); });
  queue.set(at(10ms), [&] { ran.push_back(1); });
  queue.set(at(20ms), [&] { ran.push_back(3); });
  CHECK(queue.next() == at(10ms));
  CHECK(queue.run_due(at(15ms)) == 1);
  CHECK(queue.run_due(at(20ms)) == 2);
  CHECK(ran == std::vector{1, 2, 3});
  CHECK_FALSE(queue.next());
}

TEST_CASE("a timer that sets itself again does not block the loop") {
  TimerQueue queue;
  int count = 0;
  std::function<void()> again = [&] {
    ++count;
    queue.set(at(0ms), again);
  };
  queue.set(at(0ms), again);
  CHECK(queue.run_due(at(1ms)) == 1);
  CHECK(count == 1);
  CHECK(queue.run_due(at(1ms)) == 1);
}

TEST_CASE(
    "an owned timer is cancelled when destroyed, and may be reset or destroyed in its callback") {
  TimerQueue queue;
  int ran = 0;
  {
    Timer timer(queue);
    timer.set(at(1ms), [&] { ++ran; });
  }
  CHECK(queue.run_due(at(5ms)) == 0);

  auto owned = std::make_unique<Timer>(queue);
  owned->set(at(6ms), [&] {
    ++ran;
    owned.reset();
  });
  CHECK(queue.run_due(at(6ms)) == 1);
  CHECK(ran == 1);

  Timer timer(queue);
  timer.set(at(7ms), [&] { timer.set(at(8ms), [&] { ran += 10; }); });
  queue.run_due(at(7ms));
  CHECK(timer.pending());
  queue.run_due(at(8ms));
  CHECK(ran == 11);
}

}  // namespace timers_test

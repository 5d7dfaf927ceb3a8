// Background work: the loop continues, and is notified of the end.
#include "loop/background.hpp"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <thread>

#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;

TEST_CASE("the loop runs while background work is done, and calls back at its end") {
  loop::Loop loop;
  std::promise<void> go;
  std::thread::id worked_on;
  std::thread::id reported_on;
  const auto in_use = std::make_shared<int>(0);
  const std::weak_ptr<int> use = in_use;
  bool still_used = true;
  Timer timer(loop.timers());
  // The work can end only after a loop iteration.
  timer.set(loop.now(), [&] { go.set_value(); });
  REQUIRE(loop::in_background(
      loop,
      [&, held = std::make_shared<std::shared_ptr<int>>(in_use)] {
        go.get_future().wait();
        held->reset();
        worked_on = std::this_thread::get_id();
      },
      [&] {
        reported_on = std::this_thread::get_id();
        still_used = use.use_count() > 1;
      }));
  CHECK(turn_until(loop, [&] { return reported_on != std::thread::id(); }));
  CHECK(reported_on == std::this_thread::get_id());
  CHECK(worked_on != std::thread::id());
  CHECK(worked_on != reported_on);
  CHECK_FALSE(still_used);
}

TEST_CASE("a loop waits for background work at its end, and data of the work is destroyed first") {
  auto used = std::make_shared<int>(0);
  const std::weak_ptr<int> use = used;
  bool told = false;
  bool gone = false;
  {
    loop::Loop loop;
    REQUIRE(loop::in_background(
        loop, [used = std::move(used)] {},
        [&] {
          told = true;
          gone = use.expired();
        }));
  }
  CHECK(told);
  CHECK(gone);
}

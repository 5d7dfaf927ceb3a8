// Poller on a fake host.
#pragma once

#include <doctest/doctest.h>

#include "core/poller.hpp"
#include "fakes.hpp"

namespace w8y::test {

using namespace std::chrono_literals;

/// One poller on a fake host.
struct Bench : World {
  explicit Bench(ListConfig rule, std::size_t places_limit = 0) : places(clock, places_limit) {
    poller =
        std::make_unique<Poller>(PollerHost{clock, timers, places, *this}, share(std::move(rule)));
  }
  void begin() {
    auto source = make_source(nullptr, idle, poller->source_handler());
    poller->begin(std::move(source), make_executor(nullptr, {}, poller->run_handler()));
    settle_down();
  }
  FakeExecutor& executor() { return *executors.back(); }
  FakeList& source() { return *sources.back(); }
  void end(const RunId& run, ProcessEnd how) {
    executor().end_at(run, Duration{0}, how);
    settle_down();
  }

  SlotPool places;
  IdlePolls idle{timers, clock, 100, 7};
  std::unique_ptr<Poller> poller;
};

inline std::size_t locked(const Bench& bench) {
  std::size_t count = 0;
  for (const auto& [key, lock] : bench.redis.locks) count += lock.value.empty() ? 0 : 1;
  return count;
}

}  // namespace w8y::test

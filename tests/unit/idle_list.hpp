// Poller with an idle list.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/poller.hpp"
#include "fakes.hpp"

namespace w8y::test {

using w8y::WaitQueue;
using w8y::store::Manner;
using w8y::store::Scan;
using namespace std::chrono_literals;

inline constexpr auto ends = Scan::ends;
inline constexpr auto whole = Scan::whole;

/// One poller, and a list with `items` items: "0", "1", …
struct IdlePollerBench : World {
  IdlePollerBench(ListConfig rule, std::size_t items, PollerOwner* owner = nullptr) {
    poller = std::make_unique<Poller>(PollerHost{clock, timers, places, *this, owner},
                                      share(std::move(rule)));
    poller->allow_ahead(false);
    for (std::size_t i = 0; i < items; ++i) redis.lists["work"].push_back(std::to_string(i));
  }
  void begin() {
    auto source = make_source(nullptr, idle, poller->source_handler());
    poller->begin(std::move(source), make_executor(nullptr, {}, poller->run_handler()));
    settle_down();
  }
  void lock(std::size_t from, std::size_t to, std::optional<Duration> time = std::nullopt) {
    for (std::size_t i = from; i < to; ++i) {
      auto& lock = redis.locks["work" + std::to_string(i)];
      lock.value = "rest";
      if (time) lock.until = clock.now() + *time;
    }
  }
  void unlock(std::size_t item) { redis.locks.erase("work" + std::to_string(item)); }
  void end(const RunId& run) {
    executors.back()->end_at(run, Duration{0}, Exited{0});
    settle_down();
  }
  std::vector<Scan> scans() { return std::exchange(sources.back()->scans, {}); }

  SlotPool places{clock, 0};
  IdlePolls idle{timers, clock, 100, 7};
  std::unique_ptr<Poller> poller;
};

using Scans = std::vector<Scan>;

}  // namespace w8y::test

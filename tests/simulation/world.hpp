// One virtual clock, one queue of what happens when, and the log of what has happened.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "simulation/random.hpp"

namespace w8y::sim {

/// A long item, or its lock, by less than all of it.
[[nodiscard]] std::string brief(const std::string& text);

class World {
 public:
  explicit World(std::uint64_t seed) : random(seed) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Random random;

  [[nodiscard]] Instant now() const { return now_; }
  /// By a clock that is right: µs since 1970.
  [[nodiscard]] std::int64_t wall_us() const { return now_.time_since_epoch().count() + epoch_us; }
  /// Since the world began.
  [[nodiscard]] Duration age() const { return now_ - beginning; }

  void at(Instant when, std::function<void()> what) {
    queue_.set(std::max(when, now_), std::move(what));
  }
  void after(Duration pause, std::function<void()> what) { at(now_ + pause, std::move(what)); }
  void run_until(Instant end);
  /// Drops all that was to happen. What ends with that may still want something to happen.
  void clear() {
    TimerQueue dropped;
    std::swap(dropped, queue_);
  }
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// A line of the log: who, and what has happened to whom.
  struct Line {
    Instant at;
    std::string who;    ///< "h1", "redis1", "user"
    std::string about;  ///< an item with its list, or empty
    std::string text;
  };
  bool keeps_log = true;
  void log(std::string who, std::string about, std::string text) {
    if (!keeps_log) return;
    lines_.push_back({now_, std::move(who), std::move(about), std::move(text)});
  }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  static std::string to_text(const Line& line);

  /// Not 0: what never was has times before it.
  static constexpr Instant beginning{std::chrono::hours(1)};

 private:
  static constexpr std::int64_t epoch_us = 1'800'000'000'000'000;

  Instant now_ = beginning;
  TimerQueue queue_;
  std::vector<Line> lines_;
  bool stopped_ = false;
};

/// A host's clocks: the one for deadlines is the world's, the date may be set.
class HostClock final : public Clock {
 public:
  explicit HostClock(const World& world) : world_(world) {}
  [[nodiscard]] Instant now() const override { return world_.now(); }
  [[nodiscard]] WallTime wall() const override {
    return WallTime(world_.wall_us() / 1000) + set_by;
  }
  WallTime set_by{0};

 private:
  const World& world_;
};

}  // namespace w8y::sim

// World of a simulation: virtual clock, queue of future events, and log of past events.
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

/// Returns a short and distinct text for a long item or lock. Returns a short text unchanged.
[[nodiscard]] std::string brief(const std::string& text);

class World {
 public:
  explicit World(std::uint64_t seed) : random(seed) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Random random;

  [[nodiscard]] Instant now() const { return now_; }
  /// Correct time in µs since 1970.
  [[nodiscard]] std::int64_t wall_us() const { return now_.time_since_epoch().count() + epoch_us; }
  /// Time since the start of the world.
  [[nodiscard]] Duration age() const { return now_ - beginning; }

  void at(Instant when, std::function<void()> what) {
    queue_.set(std::max(when, now_), std::move(what));
  }
  void after(Duration pause, std::function<void()> what) { at(now_ + pause, std::move(what)); }
  void run_until(Instant end);
  /// Drops all future events. Their destructors may still add events.
  void clear() {
    TimerQueue dropped;
    std::swap(dropped, queue_);
  }
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// Line of the log: time, actor, subject and event.
  struct Line {
    Instant at;
    std::string who;    ///< "h1", "redis1", "user"
    std::string about;  ///< list and item, or empty
    std::string text;
  };
  bool keeps_log = true;
  void log(std::string who, std::string about, std::string text) {
    if (!keeps_log) return;
    lines_.push_back({now_, std::move(who), std::move(about), std::move(text)});
  }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  static std::string to_text(const Line& line);

  /// Not 0, so that an event that never happened has an earlier time.
  static constexpr Instant beginning{std::chrono::hours(1)};

 private:
  static constexpr std::int64_t epoch_us = 1'800'000'000'000'000;

  Instant now_ = beginning;
  TimerQueue queue_;
  std::vector<Line> lines_;
  bool stopped_ = false;
};

/// Clocks of a host. The monotonic clock is that of the world, and the wall clock may be set.
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

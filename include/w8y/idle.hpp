// Lists that had nothing to do share one budget of polls (config.md, `idle_commands`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <w8y/clock.hpp>
#include <w8y/timers.hpp>

namespace w8y {

/// Wakes each sleeper every now and then: after `shortest_pause`, or later if there are so many
/// that the budget would not allow it. One timer for all, however many sleep.
class IdlePolls {
 public:
  static constexpr Duration shortest_pause = std::chrono::milliseconds(250);

  class Sleeper {
   public:
    explicit Sleeper(IdlePolls& polls) : polls_(polls) {}
    virtual ~Sleeper() { wake(); }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    /// Asks for one poll_due(): in turn, or at `hint` from now if that is sooner.
    void sleep(std::optional<Duration> hint);
    /// No poll_due() any more.
    void wake();
    /// One more command spent on finding nothing: the pass over a long list goes on.
    void charge() { polls_.tokens_ -= 1; }

   protected:
    virtual void poll_due() = 0;

   private:
    friend class IdlePolls;
    IdlePolls& polls_;
    std::optional<Instant> due_;
  };

  /// `seed` spreads hosts: two that start together don't poll in step.
  IdlePolls(TimerQueue& timers, const Clock& clock, unsigned per_second, std::uint64_t seed);
  void set_budget(unsigned per_second);

 private:
  using Place = std::pair<Instant, Sleeper*>;
  void arm();
  void run();
  void refill();
  [[nodiscard]] Duration pause();

  TimerQueue& timers_;
  const Clock& clock_;
  double per_second_;
  double tokens_;
  Instant filled_;
  std::uint64_t random_;
  std::set<Place> sleepers_;
  Timer timer_;
};

}  // namespace w8y

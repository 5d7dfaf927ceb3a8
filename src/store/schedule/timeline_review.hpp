// Puts jobs earlier on a timeline after the clock of Redis was set back.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/rule.hpp"
#include "core/timers.hpp"
#include "store/redis_session.hpp"
#include "store/schedule/effects.hpp"
#include "store/schedule/keys.hpp"
#include "store/server_clock.hpp"

namespace w8y::store {

/// Passes over a timeline when the clock was set back, from its end to the present: one page at a
/// time, and as much time between two pages as a page took. A job that is due later than its
/// schedule says from now on, and later than any backoff, gets the time that the schedule says.
class TimelineReview final : private ServerClock::Listener {
 public:
  TimelineReview(RedisSession& session, DecideNextStep decide);
  ~TimelineReview();

  /// The timeline of this list; nullptr: none.
  void use(RulePtr rule) { rule_ = std::move(rule); }

 private:
  struct Entry {
    std::string job;
    std::string time;  ///< as Redis has it
    double due = 0;    ///< Unix time, s
  };
  struct Page;

  void on_clock_jump(Duration by) override;
  void step(std::size_t first);
  void read(const std::shared_ptr<Page>& page, const redis::Answer& timeline);
  void decide(const std::shared_ptr<Page>& page, const redis::Answer& schedules);
  void end(const Page& page);

  RedisSession& session_;
  const DecideNextStep decide_;
  RulePtr rule_;
  unsigned round_ = 0;  ///< replies to an earlier one are ignored
  Timer timer_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store

// Moves jobs to earlier times on a timeline after the clock of Redis was set back.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"
#include "core/timers.hpp"
#include "store/redis_session.hpp"
#include "store/schedule/effects.hpp"
#include "store/schedule/keys.hpp"
#include "store/server_clock.hpp"

namespace w8y::store {

/// Reads a timeline from its end to the present after the clock of Redis was set back. Reads one
/// page at a time and waits for the duration of that page before the next one. The clock must have
/// been set back by more than one minute. If a job is due later than the next time of its schedule,
/// and later than the maximum backoff from now, it moves to the next time of its schedule.
class TimelineReview final : private ServerClock::Listener {
 public:
  TimelineReview(RedisSession& session, DecideNextStep decide);
  ~TimelineReview();

  /// Selects the list whose timeline is reviewed; nullptr: none.
  void use(ListConfigPtr rule) { rule_ = std::move(rule); }

 private:
  struct Entry {
    std::string job;
    std::string time;  ///< as in Redis
    double due = 0;    ///< Unix time, s
  };
  struct Page;

  void on_clock_jump(const ServerClock::Jump& jump) override;
  void step(const std::string& from, std::size_t skipped);
  void read(const std::shared_ptr<Page>& page, const redis::Answer& timeline);
  void decide(const std::shared_ptr<Page>& page, const redis::Answer& schedules);
  void end(const Page& page);
  /// Returns the next time of a schedule; nullopt: it has none.
  [[nodiscard]] std::optional<UnixSeconds> next_time(const std::string& schedule,
                                                     UnixSeconds now) const;

  RedisSession& session_;
  const DecideNextStep decide_;
  ListConfigPtr rule_;
  ServerClock::Jump jump_;
  unsigned round_ = 0;  ///< number of the review; replies to earlier reviews are ignored
  Timer timer_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store

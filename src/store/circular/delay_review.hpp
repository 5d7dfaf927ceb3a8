// Shortens delays of circular lists after the clock of Redis was set back.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "core/list_config.hpp"
#include "core/timers.hpp"
#include "redis/client.hpp"
#include "store/circular/list_pass.hpp"
#include "store/circular/sweep.hpp"
#include "store/server_clock.hpp"

namespace w8y::store {

/// Runs shorten.lua on all lists of a connection after the clock of Redis was set back. Sends one
/// call at a time and waits for the duration of that call before the next one. Several hosts may
/// review a list at the same time.
class DelayReview final : private ServerClock::Listener {
 public:
  DelayReview(redis::Client& client, TimerQueue& timers, const Clock& clock, ServerClock& server,
              const Sweep& lists);
  ~DelayReview();

 private:
  void on_clock_jump(const ServerClock::Jump& jump) override;
  void step();
  void stepped(const redis::Answer& answer, Instant sent);
  void end_list();

  redis::Client& client_;
  const Clock& clock_;
  const Sweep& lists_;
  Duration jump_{0};
  Instant before_{};                ///< last reply before the jump
  std::list<ListConfigPtr> rules_;  ///< lists still to review
  ListPass pass_;                   ///< pass over the first of `rules_`
  unsigned round_ = 0;  ///< number of the review; replies to earlier reviews are ignored
  Timer timer_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store

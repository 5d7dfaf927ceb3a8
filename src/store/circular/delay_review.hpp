// Shortens delays of circular lists after the clock of Redis was set back.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "core/rule.hpp"
#include "core/timers.hpp"
#include "redis/client.hpp"
#include "store/circular/list_pass.hpp"
#include "store/circular/sweep.hpp"
#include "store/server_clock.hpp"

namespace w8y::store {

/// Passes over all lists of a connection when the clock was set back (shorten.lua): one call at a
/// time, and as much time between two calls as a call took. Hosts may do the same at the same time.
class DelayReview final : private ServerClock::Listener {
 public:
  DelayReview(redis::Client& client, TimerQueue& timers, const Clock& clock, ServerClock& server,
              const Sweep& lists);
  ~DelayReview();

 private:
  void on_clock_jump(Duration by) override;
  void step();
  void stepped(const redis::Answer& answer, Instant sent);
  void end_list();

  redis::Client& client_;
  const Clock& clock_;
  const Sweep& lists_;
  Duration jump_{0};
  Instant noticed_{};
  std::list<RulePtr> rules_;  ///< of the lists that are left
  ListPass pass_;             ///< over the first of these
  unsigned round_ = 0;        ///< replies to an earlier one are ignored
  Timer timer_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store

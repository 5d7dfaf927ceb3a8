#include "store/circular/shared.hpp"

#include "core/item.hpp"
#include "store/circular/quarantine_note.hpp"

namespace w8y::store {

CircularShared::CircularShared(redis::Client& client, Tracking& tracking, TimerQueue& timers,
                               const Clock& clock, ServerClock& server, bool cluster,
                               const std::string& host, std::uint64_t seed)
    : locks(client),
      sweep(locks, timers, clock, cluster, seed),
      delay_review(client, timers, clock, server, sweep),
      look_batcher(client, tracking, timers, clock, cluster),
      parked_note(to_text({{}, "w8yd on " + host, too_long_text(), WallTime(0)})) {}

void CircularShared::new_connection() {
  locks.new_connection();
  look_batcher.forget_refusals();
}

}  // namespace w8y::store

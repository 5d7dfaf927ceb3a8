// What the circular lists on one Redis share besides the session.
#pragma once

#include <cstdint>
#include <string>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "store/circular/delay_review.hpp"
#include "store/circular/look_batcher.hpp"
#include "store/circular/script_locks.hpp"
#include "store/circular/sweep.hpp"

namespace w8y::redis {
class Client;
}

namespace w8y::store {

struct CircularShared {
  /// `host`: our name in locks and notes. `seed` spreads hosts that start together.
  CircularShared(redis::Client& client, TimerQueue& timers, const Clock& clock, ServerClock& server,
                 bool cluster, const std::string& host, std::uint64_t seed);

  /// It may be another user's: what was forbidden may be allowed.
  void new_connection();

  ScriptLocks locks;
  Sweep sweep;
  DelayReview delay_review;
  LookBatcher look_batcher;
  /// What the index of quarantines says of items that are too long.
  const std::string parked_note;
};

}  // namespace w8y::store

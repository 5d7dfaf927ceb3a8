// Objects that the circular lists on one Redis share, in addition to the session.
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
  /// `host`: name of this host in locks and notes. `seed` spreads the first sweeps of hosts that
  /// start together.
  CircularShared(redis::Client& client, Tracking& tracking, TimerQueue& timers, const Clock& clock,
                 ServerClock& server, bool cluster, const std::string& host, std::uint64_t seed);

  /// Forgets proofs and refusals of permissions. A new connection may have another user.
  void new_connection();

  ScriptLocks locks;
  Sweep sweep;
  DelayReview delay_review;
  LookBatcher look_batcher;
  /// Entry in the index of quarantines for items that are too long.
  const std::string parked_note;
};

}  // namespace w8y::store

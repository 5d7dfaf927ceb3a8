// Pauses with a random part, so that the hosts of a fleet do not act at the same time.
#pragma once

#include <cstdint>

#include "core/clock.hpp"

namespace w8y::redis {

/// Returns a random duration from half of `pause` to all of it.
Duration jittered(Duration pause);

/// Source of random numbers on this thread, in place of that of the system.
using RandomNumber = std::uint32_t (*)();
void provide_randomness(RandomNumber random);
/// Source provided on this thread; nullptr if the system's is used.
RandomNumber provided_randomness();

}  // namespace w8y::redis

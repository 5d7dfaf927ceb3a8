// Pauses with a random part, so that a fleet doesn't act as one.
#pragma once

#include <cstdint>

#include "core/clock.hpp"

namespace w8y::redis {

/// Between half of it and all of it.
Duration jittered(Duration pause);

/// Where the random part comes from in this thread, instead of the system's randomness.
using RandomNumber = std::uint32_t (*)();
void provide_randomness(RandomNumber random);
/// nullptr: it is the system's.
RandomNumber provided_randomness();

}  // namespace w8y::redis

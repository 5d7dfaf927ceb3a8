// Pauses with a random part, so that a fleet doesn't act as one.
#pragma once

#include <w8y/clock.hpp>

namespace w8y::redis {

/// Between half of it and all of it.
Duration jittered(Duration pause);

}  // namespace w8y::redis

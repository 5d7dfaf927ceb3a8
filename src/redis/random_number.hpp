// Random numbers from the system, or from the source provided in its place.
#pragma once

#include <cstdint>
#include <random>

#include "redis/jitter.hpp"

namespace w8y::redis {

inline std::uint64_t random_number() {
  if (const RandomNumber provided = provided_randomness()) {
    const std::uint64_t high = provided();
    return (high << 32U) | provided();
  }
  std::random_device random;
  const std::uint64_t high = random();
  return (high << 32U) | random();
}

}  // namespace w8y::redis

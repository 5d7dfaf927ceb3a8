// From the system's randomness.
#pragma once

#include <cstdint>
#include <random>

namespace w8y::app {

inline std::uint64_t random_number() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U) | random();
}

}  // namespace w8y::app

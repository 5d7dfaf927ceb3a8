// Names for runs.
#pragma once

#include <cstdint>
#include <random>

#include <w8y/clock.hpp>
#include <w8y/item.hpp>

namespace w8y {

/// Makes ULIDs: 48 bits of Unix milliseconds, 80 random bits, in Crockford's base 32, so that they
/// sort by time. Within one millisecond each is greater than the one before.
class RunIds {
 public:
  explicit RunIds(std::uint64_t seed) : random_(seed) {}
  RunId next(WallTime now);

 private:
  std::mt19937_64 random_;
  std::uint64_t last_ms_ = 0;
  std::uint64_t high_ = 0;  // 16 bits
  std::uint64_t low_ = 0;   // 64 bits
};

}  // namespace w8y

// Random numbers of a seed, the same on each machine and with each library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/clock.hpp"

namespace w8y::sim {

/// FNV-1a, eight bytes at a time: items have up to 16 MiB.
inline std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t prime = 0x100000001B3U;
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (; text.size() >= sizeof hash; text.remove_prefix(sizeof hash)) {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < sizeof word; ++i)
      word |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32;  // high bits affect low bits, too
  }
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

/// xoshiro256**, seeded by splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15U;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
      mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
      word = mixed ^ (mixed >> 31U);
    }
  }

  std::uint64_t next() {
    const auto rotated = [](std::uint64_t x, unsigned by) { return (x << by) | (x >> (64U - by)); };
    const std::uint64_t result = rotated(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return result;
  }
  /// Returns a number from 0 to `end` - 1.
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : next() % end; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  Duration between(Duration least, Duration most) {
    return Duration(between(least.count(), most.count()));
  }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[below(values.size())];
  }
  /// Returns another stream of numbers. The draws of one part of a world do not affect other parts.
  Random fork(std::uint64_t part) const {
    return Random(state_[0] ^ (state_[3] + part * 0xD1342543DE82EF95U));
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace w8y::sim

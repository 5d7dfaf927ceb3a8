// What the plain-commands way says and hears in more than one place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace w8y::store {

/// Of a lock's value: more than any of ours has. A foreign one may be of any length.
inline constexpr const char* most_of_value = "1023";
/// PTTL's answer.
inline constexpr std::int64_t not_there = -2;

/// Each place has its own end, in its score; this is only so that the key has one too.
inline std::int64_t slots_life(std::int64_t expiry_ms) {
  return std::max<std::int64_t>(86'400'000, 2 * expiry_ms);
}

/// When a place in the fleet is over, as a score. The lock is set some round trips after the time
/// was asked; a claim that takes longer than half a lease is given up. So no place ends before its
/// lock.
inline std::int64_t place_until(std::int64_t now_ms, std::int64_t expiry_ms) {
  return now_ms + expiry_ms + expiry_ms / 2;
}

/// What a fence lacks to be as large as the time, as far as one INCRBY can add it: others may have
/// written any number there. Not for a fence that is as large.
inline std::int64_t fence_lag(std::int64_t now_us, std::int64_t fence) {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  return fence < now_us - max ? max : now_us - fence;
}

}  // namespace w8y::store

// Count of an item's consecutive failures in `P:failures`: its changes, and its text.
#pragma once

#include <string>

namespace w8y::store {

enum class FailureCount { keep, reset, increment };

/// Returns the word that the scripts expect.
constexpr const char* to_text(FailureCount count) {
  switch (count) {
    case FailureCount::keep:
      return "keep";
    case FailureCount::reset:
      return "reset";
    case FailureCount::increment:
      return "increment";
  }
  return "keep";
}

/// Returns the reason of a quarantine or a stall: "5 consecutive failures, the last: REASON". The
/// scripts of feeds write the same text.
inline std::string failures_text(unsigned failures, const std::string& last) {
  if (failures == 1) return "1 failure: " + last;
  return std::to_string(failures) + " consecutive failures, the last: " + last;
}

}  // namespace w8y::store

// Change of an item's count of consecutive failures in `P:failures`.
#pragma once

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

}  // namespace w8y::store

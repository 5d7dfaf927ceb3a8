// Failures in a row of an item, as `P failures` has them.
#pragma once

namespace w8y::store {

enum class FailureCount { keep, reset, increment };

/// As the scripts are told.
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

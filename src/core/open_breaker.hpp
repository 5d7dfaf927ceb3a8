// The open breaker of a list, as stored in `P:breaker` (w8y-keys(7)).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace w8y {

struct OpenBreaker {
  WallTime since{0};
  WallTime probe{0};   ///< time of the next probe; in the past during a probe
  std::string reason;  ///< "16 of 20 runs failed: HTTP 503"

  bool operator==(const OpenBreaker&) const = default;
};

/// Reads the values of the fields `since`, `probe`, `failed` and `reason`. Returns nullopt if the
/// breaker is closed.
std::optional<OpenBreaker> read_open_breaker(std::string_view since, std::string_view probe,
                                             std::string_view failed, std::string_view reason);
/// Returns "breaker open for 4m: 16 of 20 runs failed: HTTP 503".
std::string breaker_text(const OpenBreaker& breaker, WallTime now);

}  // namespace w8y

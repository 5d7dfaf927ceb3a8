// The pause of a list, as stored in `P:paused`. The form of the value is readable for people.
#pragma once

#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace w8y {

struct Pause {
  std::string reason;  ///< may be empty
  std::string by;      ///< "jo on web1"; empty = not known
  WallTime since{0};   ///< 0 = not known
  WallTime until{0};   ///< 0 = until resumed

  bool operator==(const Pause&) const = default;
};

/// Returns the value of the key: "new disks (by jo on web1 since 2026-01-31T12:34:56Z)". The end of
/// the pause is the expiry of the key.
std::string pause_value(const Pause& pause);
/// Parses a value of the key. A value in any other form is used as the reason.
Pause parse_pause(std::string_view value);
/// Returns "new disks, by jo on web1, since 12m ago, 48m left".
std::string pause_text(const Pause& pause, WallTime now);

}  // namespace w8y

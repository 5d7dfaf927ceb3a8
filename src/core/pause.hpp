// A list's pause, as it stands in `P paused`: for people who look there, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace w8y {

struct Pause {
  std::string reason;  ///< may be empty
  std::string by;      ///< "jo on web1"; empty: not said
  WallTime since{0};   ///< 0: not said
  WallTime until{0};   ///< 0: for good

  bool operator==(const Pause&) const = default;
};

/// "new disks (by jo on web1 since 2026-01-31T12:34:56Z)"; its end is that of the key.
std::string pause_value(const Pause& pause);
/// What is not in that form is a reason.
Pause parse_pause(std::string_view value);
/// "new disks, by jo on web1, since 12m ago, 48m left"
std::string pause_text(const Pause& pause, WallTime now);

}  // namespace w8y

// The settings that only lists of jobs have: see w8y.toml(5).
#pragma once

#include <chrono>

#include "core/clock.hpp"

namespace w8y {

/// What only lists of jobs have: the list's prefix is the feed's name.
struct JobSettings {
  /// After which a claim of a client that writes no lease is taken back; 0: never.
  Duration claim_timeout{0};
  Duration maintenance_interval = std::chrono::seconds(60);  ///< >= 1 s
  bool operator==(const JobSettings&) const = default;
};

}  // namespace w8y

// The settings that only lists of jobs have; see w8y.toml(5).
#pragma once

#include <chrono>
#include <string>

#include "core/clock.hpp"

namespace w8y {

/// Settings of a list of jobs only. The list's prefix is the name of the feed.
struct JobSettings {
  /// Time after which a claim without a lease is recovered; 0 = never.
  Duration claim_timeout{0};
  Duration maintenance_interval = std::chrono::seconds(60);  ///< >= 1 s
  /// Feed in which each maintenance pass publishes numbers of jobs; empty = none.
  std::string maintenance_feed = {};
  bool operator==(const JobSettings&) const = default;
};

}  // namespace w8y

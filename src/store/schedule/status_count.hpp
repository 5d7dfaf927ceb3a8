// Jobs of a schedule with status BAD or DIE, counted in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "redis/reply.hpp"

namespace w8y::store {

struct StatusCounts {
  std::uint64_t bad = 0;   ///< status BAD
  std::uint64_t died = 0;  ///< status DIE
};

/// One scan of a schedule's statuses after the other. Redis has no index by status, and Redbike
/// writes statuses as well, so that only a scan is right. Redis needs about 1 µs for each job.
class StatusCount {
 public:
  /// Number of jobs that Redis examines in one call.
  static constexpr const char* jobs_per_call = "250";

  /// Returns the cursor for schedule_count.lua.
  [[nodiscard]] const std::string& cursor() const { return cursor_; }
  /// Adds a reply of the script. Returns how many jobs were examined.
  std::size_t add(const redis::Reply& reply);
  /// Returns true before the first part of a scan, and after the last one.
  [[nodiscard]] bool is_between_scans() const { return cursor_ == "0"; }
  /// Returns whether one scan has been completed.
  [[nodiscard]] bool is_known() const { return last_.has_value(); }
  /// Returns the counts of the last complete scan, or larger ones if the scan in progress has found
  /// more.
  [[nodiscard]] StatusCounts counts() const;

 private:
  std::string cursor_ = "0";
  StatusCounts found_;                ///< by the scan in progress
  std::optional<StatusCounts> last_;  ///< of the last complete scan
};

}  // namespace w8y::store

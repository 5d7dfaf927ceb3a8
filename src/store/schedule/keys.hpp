// Names of the keys of schedules (w8y-keys(7)): those of Redbike and those of w8y.
#pragma once

#include <string>
#include <string_view>

#include "core/job_code.hpp"

namespace w8y::store {

struct ScheduleKeys {
  /// `prefix`: without a final ':'.
  explicit ScheduleKeys(const std::string& prefix);

  [[nodiscard]] std::string queue(std::string_view code) const {
    return work_prefix + std::string(code);
  }
  [[nodiscard]] std::string members(std::string_view code) const {
    return queue(code) + "-members";
  }
  /// Returns the key that exists while the job is running.
  [[nodiscard]] std::string working(std::string_view job) const;

  // Keys of Redbike.
  std::string schedules;
  std::string statuses;
  std::string timeline;
  std::string control;
  std::string work_prefix;  ///< prefix of the queues

  // Keys that other kinds of work have as well.
  std::string fence;
  std::string failures;
  std::string slots;
  std::string paused;
  std::string runs;
  std::string events;
  std::string wake;
  std::string breaker;

  std::string taken;
  std::string due;     ///< times for which jobs were dispatched, for CatchUp::all
  std::string jitter;  ///< jobs and their jitter, ms
  std::string halted;  ///< operator that has set `control`, if by w8y
};

/// Value of `control` that stops dispatch and claims.
inline constexpr const char* halt = "HALT";

}  // namespace w8y::store

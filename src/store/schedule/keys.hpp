// Names of the keys of schedules (w8y-keys(7)): those of Redbike, and ours beside them.
#pragma once

#include <string>
#include <string_view>

#include "core/job_code.hpp"

namespace w8y::store {

struct ScheduleKeys {
  /// Without a final ':'.
  explicit ScheduleKeys(const std::string& prefix);

  [[nodiscard]] std::string queue(std::string_view code) const {
    return work_prefix + std::string(code);
  }
  [[nodiscard]] std::string members(std::string_view code) const {
    return queue(code) + "-members";
  }
  /// Exists while the job is worked on.
  [[nodiscard]] std::string working(std::string_view job) const;

  // Redbike's.
  std::string schedules;
  std::string statuses;
  std::string timeline;
  std::string control;
  std::string work_prefix;  ///< of queues

  // As of other kinds of work.
  std::string fence;
  std::string failures;
  std::string slots;
  std::string paused;
  std::string runs;
  std::string events;
  std::string wake;

  std::string taken;
  std::string halted;  ///< who has set control, if it was one of us
};

/// The value of control that stops dispatch and work.
inline constexpr const char* halt = "HALT";

}  // namespace w8y::store

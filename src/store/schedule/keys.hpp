// Names of the keys of schedules (w8y-keys(7)): those of Redbike and those of w8y.
#pragma once

#include <string>
#include <string_view>

#include "core/job_code.hpp"
#include "core/list_config.hpp"

namespace w8y::store {

struct ScheduleKeys {
  /// `prefix`: without a final ':'. `list`: name of the list if it is not the key prefix; the list
  /// then has keys of its own beside those of all lists with the key prefix.
  explicit ScheduleKeys(const std::string& prefix, const std::string& list = {});
  explicit ScheduleKeys(const ListConfig& rule);

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
  std::string events;
  std::string wake;

  // Keys of one list.
  std::string list;  ///< its name; empty = the key prefix
  std::string slots;
  std::string paused;
  std::string runs;
  std::string breaker;

  std::string taken;
  std::string due;     ///< times for which jobs were dispatched, for CatchUp::all
  std::string jitter;  ///< jobs and their jitter, ms
  std::string halted;  ///< operator that has set `control`, if by w8y
};

/// Value of `control` that stops dispatch and claims.
inline constexpr const char* halt = "HALT";

}  // namespace w8y::store

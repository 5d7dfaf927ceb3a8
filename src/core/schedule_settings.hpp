// The settings that only schedules have; see w8y.toml(5).
#pragma once

#include <string>
#include <vector>

namespace w8y {

/// Disposition of a job of a schedule whose run failed.
enum class OnFailure {
  die,         ///< status DIE; it does not run again until it is set again
  reschedule,  ///< as after a success
  backoff,     ///< again after its backoff, regardless of its schedule; `die` after `max_failures`
};

/// Runs for the times of a recurrence rule that passed before a host dispatched the job, or before
/// its run ended.
enum class CatchUp {
  one,   ///< one run for all times, as Redbike
  all,   ///< one run for each time
  none,  ///< no run, if the dispatch is late by more than a minute
};

/// Settings of a schedule only.
struct ScheduleSettings {
  std::vector<std::string> queues;  ///< codes, in the order of claims; at least one
  bool dispatch = true;             ///< whether this host dispatches due jobs
  OnFailure on_failure = OnFailure::die;
  std::string timefile;  ///< path; empty = none
  CatchUp catch_up = CatchUp::one;
  bool operator==(const ScheduleSettings&) const = default;
};

}  // namespace w8y
